/// @file
/// JsonSpan: finds the end of a JSON value that arrives in pieces.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_SPAN_H_
#define KUBEXX_CODEC_INTERNAL_JSON_SPAN_H_

#include <cstdint>

namespace kubexx::codec::internal {

/// Follows one JSON value by its brackets and strings. Leaves the check of the grammar to the
/// reader of the whole value. Takes the same memory however deep the value is.
class JsonSpan {
 public:
  /// Begins a value whose first character is `first`. The next call of Feed must begin with that
  /// character, too. Returns false for a character with which no value begins.
  bool Begin(char first);

  /// Consumes the next bytes. Returns the position after the value if it ends here, or null if it
  /// goes on after `end`. A number or literal ends before the character that delimits it.
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
