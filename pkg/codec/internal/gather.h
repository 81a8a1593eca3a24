/// @file
/// Puts a record together that arrives in pieces.
#ifndef KUBEXX_CODEC_INTERNAL_GATHER_H_
#define KUBEXX_CODEC_INTERNAL_GATHER_H_

#include <cstring>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/bytes.h"

namespace kubexx::codec::internal {

/// Holds the beginning of a record until its end arrives; a record that arrives whole is passed
/// through uncopied. The memory is wiped at the end, since records may be Secrets. At most `limit`
/// bytes.
class Gather {
 public:
  explicit Gather(std::size_t limit) : limit_(limit) {}
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;
  ~Gather() { apimachinery::Wipe(buffer_); }

  /// Keeps a piece that is not the last. False when the record gets too long.
  bool Add(std::string_view piece) {
    if (piece.size() > limit_ - buffer_.size()) {
      return false;
    }
    buffer_ += piece;
    return true;
  }

  /// The whole record, valid until the next call, into `record`. False when the record is too long.
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

  /// Makes ready for the next record, keeping the memory.
  void Clear() {
    explicit_bzero(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  std::size_t limit() const { return limit_; }

 private:
  std::size_t limit_;
  std::string buffer_{};
};

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_GATHER_H_
