#include "kubexx/codec/internal/back_buffer.h"

#include <algorithm>

namespace kubexx::codec::internal {

BackBuffer::~BackBuffer() { Release(); }

void BackBuffer::Release() {
  if (secret_) {
    explicit_bzero(pos_, size());
  }
  if (begin_ != inline_) {
    delete[] begin_;
  }
}

void BackBuffer::Grow(std::size_t count) {
  const std::size_t used = size();
  const std::size_t capacity = std::max(static_cast<std::size_t>(end_ - begin_) * 2, used + count);
  char* const bytes = new char[capacity];
  char* const pos = bytes + (capacity - used);
  std::memcpy(pos, pos_, used);
  Release();
  begin_ = bytes;
  end_ = bytes + capacity;
  pos_ = pos;
}

}  // namespace kubexx::codec::internal
