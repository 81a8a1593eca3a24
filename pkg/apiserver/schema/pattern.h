/// @file
/// The regular expressions of schemas.
#ifndef KUBEXX_APISERVER_SCHEMA_PATTERN_H_
#define KUBEXX_APISERVER_SCHEMA_PATTERN_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace kubexx::apiserver::schema {

/// A regular expression in the API's syntax, which is that of Go's regexp and RE2. For every
/// expression, matching takes time linear in the text and at most a megabyte of memory. Immutable,
/// cheap to copy, thread-safe.
class Pattern {
 public:
  explicit Pattern(std::string_view text);

  /// What is wrong with the expression; "" when it is valid.
  const std::string& problem() const { return problem_; }
  const std::string& text() const { return text_; }
  /// The size of the compiled expression in instructions of about 16 bytes. An expression that is
  /// too large to compile counts as the largest possible one.
  std::size_t size() const;
  /// Whether the expression matches any part of `value`; false when the expression is invalid.
  bool Matches(std::string_view value) const;

 private:
  struct Program;
  std::string text_;
  std::string problem_;
  std::shared_ptr<const Program> program_;
};

/// The expressions of one definition. It compiles each expression once, however often it occurs,
/// and refuses further ones when there are a thousand or they are larger than four megabytes
/// together. All patterns that clients send must be compiled here, because compiling an expression
/// of a few bytes can take milliseconds. Not thread-safe.
class Patterns {
 public:
  /// The compiled expression; null when it would exceed the limits, and then for all further
  /// expressions. Valid as long as this object.
  const Pattern* Find(std::string_view text);
  /// Whether an expression has been refused.
  bool full() const { return full_; }

 private:
  std::map<std::string, Pattern, std::less<>> compiled_{};
  std::size_t size_ = 0;
  bool full_ = false;
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_PATTERN_H_
