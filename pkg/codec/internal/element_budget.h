/// @file
/// ElementBudget: limits the number of elements in the lists of one object.
#ifndef KUBEXX_CODEC_INTERNAL_ELEMENT_BUDGET_H_
#define KUBEXX_CODEC_INTERNAL_ELEMENT_BUDGET_H_

#include <cstddef>
#include <string_view>

namespace kubexx::codec::internal {

/// Limits the messages in the lists of one object. An empty message takes two or three bytes in an
/// encoding, but up to a kilobyte as a struct, so without a limit a body of 3 MiB could take
/// gigabytes. The messages of real objects have dozens of bytes each, which is far from this limit.
class ElementBudget {
 public:
  /// The budget of an object of `bytes` bytes.
  explicit ElementBudget(std::size_t bytes) : left_(kAlways + bytes / kBytesOfElement) {}

  /// Takes one message from the budget. Returns false if the lists may have no further message.
  bool Take() { return left_ != 0 && left_-- != 0; }

 private:
  static constexpr std::size_t kAlways = 100'000;
  static constexpr std::size_t kBytesOfElement = 16;

  std::size_t left_;
};

inline constexpr std::string_view kTooManyElements =
    "the lists have too many elements for so few bytes";

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_ELEMENT_BUDGET_H_
