/// @file
/// Gather: joins the pieces of a record.
#ifndef KUBEXX_CODEC_INTERNAL_GATHER_H_
#define KUBEXX_CODEC_INTERNAL_GATHER_H_

#include <cstring>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/codec/codec.h"

namespace kubexx::codec::internal {

/// Keeps the beginning of a record until its end arrives. A record that arrives in one piece is not
/// copied. A record may have `limit` bytes at most.
class Gather {
 public:
  explicit Gather(std::size_t limit, KeptMemory memory = KeptMemory::kWiped)
      : limit_(limit), memory_(memory) {}
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;
  ~Gather() {
    if (memory_ == KeptMemory::kWiped) {
      apimachinery::Wipe(buffer_);
    }
  }

  /// Keeps a piece that is not the last one. Returns false if the record gets too long.
  bool Add(std::string_view piece) {
    if (piece.size() > limit_ - buffer_.size()) {
      return false;
    }
    buffer_ += piece;
    return true;
  }

  /// Takes the last piece and sets `record` to the whole record, which is valid until the next
  /// call. Returns false if the record is too long.
  bool Complete(std::string_view last, std::string_view& record) {
    if (buffer_.empty()) {
      record = last;
      return last.size() <= limit_;
    }
    if (!Add(last)) {
      return false;
    }
    record = buffer_;
    return true;
  }

  /// Prepares for the next record, and keeps the memory.
  void Clear() {
    if (memory_ == KeptMemory::kWiped) {
      explicit_bzero(buffer_.data(), buffer_.size());
    }
    buffer_.clear();
  }
  std::size_t limit() const { return limit_; }

 private:
  std::size_t limit_;
  KeptMemory memory_;
  std::string buffer_{};
};

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_GATHER_H_
