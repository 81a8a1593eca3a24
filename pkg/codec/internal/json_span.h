/// @file
/// Finds the end of a JSON value that arrives in pieces.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_SPAN_H_
#define KUBEXX_CODEC_INTERNAL_JSON_SPAN_H_

#include <cstdint>

namespace kubexx::codec::internal {

/// Follows one JSON value by its brackets and strings. Does not check its grammar: that is for the
/// reader of the whole value. Needs no memory, however deep the value.
class JsonSpan {
 public:
  /// Begins a value whose first character is `first`; Feed gets that character too. False for a
  /// character that begins no value.
  bool Begin(char first);

  /// Consumes the next bytes. The position behind the value when it ends here, null when it goes on
  /// beyond `end`. A number or literal ends before the character that delimits it.
  const char* Feed(const char* p, const char* end);

 private:
  const char* FeedString(const char* p, const char* end);
  const char* FeedContainer(const char* p, const char* end);

  enum class Shape : std::uint8_t { kContainer, kString, kScalar };
  Shape shape_ = Shape::kScalar;
  std::uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_SPAN_H_
