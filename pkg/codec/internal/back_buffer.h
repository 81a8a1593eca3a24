/// @file
/// BackBuffer: a buffer that is written from its end to its beginning.
#ifndef KUBEXX_CODEC_INTERNAL_BACK_BUFFER_H_
#define KUBEXX_CODEC_INTERNAL_BACK_BUFFER_H_

#include <cstring>
#include <string_view>

#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec::internal {

/// Contains the bytes of a message while it is encoded back to front, so that the length of a
/// nested message is known when its prefix is written. Small messages need no allocation. If the
/// buffer has been marked secret, all memory that contained bytes is wiped.
class BackBuffer {
 public:
  BackBuffer() = default;
  BackBuffer(const BackBuffer&) = delete;
  BackBuffer& operator=(const BackBuffer&) = delete;
  ~BackBuffer();

  void MarkSecret() { secret_ = true; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - pos_); }
  std::string_view view() const { return {pos_, size()}; }

  void Bytes(std::string_view bytes) {
    if (bytes.empty()) {
      return;  // it may be a null pointer
    }
    Reserve(bytes.size());
    pos_ -= bytes.size();
    std::memcpy(pos_, bytes.data(), bytes.size());
  }
  void Varint(std::uint64_t value) {
    Reserve(kMaxVarintBytes);
    pos_ -= VarintSize(value);
    PutVarint(value, pos_);
  }
  void Fixed64(std::uint64_t value) {
    Reserve(sizeof value);
    pos_ -= sizeof value;
    std::memcpy(pos_, &value, sizeof value);
  }
  void PutTag(std::uint32_t number, WireType type) {
    Varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
  }
  /// Writes the length of what was written since size() was `mark`, and then the tag.
  void CloseMessage(std::uint32_t number, std::size_t mark) {
    Varint(size() - mark);
    PutTag(number, WireType::kBytes);
  }

 private:
  void Reserve(std::size_t count) {
    if (static_cast<std::size_t>(pos_ - begin_) < count) {
      Grow(count);
    }
  }
  void Grow(std::size_t count);
  void Release();

  static constexpr std::size_t kInlineBytes = 4096;
  char inline_[kInlineBytes];
  char* begin_ = inline_;
  char* end_ = inline_ + kInlineBytes;
  char* pos_ = end_;
  bool secret_ = false;
};

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_BACK_BUFFER_H_
