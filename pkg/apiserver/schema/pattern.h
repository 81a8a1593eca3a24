/// @file
/// Regular expressions of schemas.
#ifndef KUBEXX_APISERVER_SCHEMA_PATTERN_H_
#define KUBEXX_APISERVER_SCHEMA_PATTERN_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace kubexx::apiserver::schema {

/// An expression in the syntax that the API has, that of Go's regexp, which is RE2's. Matching
/// takes time linear in the text and at most a megabyte, whatever the expression. Immutable,
/// cheap to copy, thread-safe.
class Pattern {
 public:
  explicit Pattern(std::string_view text);

  /// "" for a good expression, else what is wrong with it.
  const std::string& problem() const { return problem_; }
  const std::string& text() const { return text_; }
  /// What it costs to keep, in instructions of about 16 bytes; one that is too large to be compiled
  /// counts as the largest.
  std::size_t size() const;
  /// Whether it is found anywhere in `value`; false when there is a problem.
  bool Matches(std::string_view value) const;

 private:
  struct Program;
  std::string text_;
  std::string problem_;
  std::shared_ptr<const Program> program_;
};

/// The expressions of one definition: each is compiled once, however often it comes, and none any
/// more when there are a thousand or they have become larger than four megabytes together. Whoever
/// reads patterns of a client takes them from here, for one of a few bytes may take milliseconds.
/// Not thread-safe.
class Patterns {
 public:
  /// Null when there would be too many, or they would be too large; that stays so. Valid as long as
  /// this is.
  const Pattern* Find(std::string_view text);
  /// Whether one has been refused.
  bool full() const { return full_; }

 private:
  std::map<std::string, Pattern, std::less<>> compiled_{};
  std::size_t size_ = 0;
  bool full_ = false;
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_PATTERN_H_
