/// @file
/// Regular expressions of schemas.
#ifndef KUBEXX_APISERVER_SCHEMA_PATTERN_H_
#define KUBEXX_APISERVER_SCHEMA_PATTERN_H_

#include <cstddef>
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
  /// What it costs to keep, in instructions of about 16 bytes.
  std::size_t size() const;
  /// Whether it is found anywhere in `value`; false when there is a problem.
  bool Matches(std::string_view value) const;

 private:
  struct Program;
  std::string text_;
  std::string problem_;
  std::shared_ptr<const Program> program_;
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_PATTERN_H_
