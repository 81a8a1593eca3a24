/// @file
/// Compiled items of reload lists.
#ifndef KUBEXX_RELOADER_PLAN_PATTERN_CACHE_H_
#define KUBEXX_RELOADER_PLAN_PATTERN_CACHE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloader {

/// Matches names against the items of reload lists: each is a regular expression in Go's (RE2)
/// syntax, used as `^item$` without grouping, so "a|b" means `^a` or `b$`. Compiles an item once
/// while it is in use. Thread-safe; matching takes time linear in its input and bounded memory
/// whatever the expression.
class PatternCache {
 public:
  /// An item that is longer is no expression: names have 253 characters at most.
  static constexpr std::size_t kMaxItemBytes = 4096;

  /// Keeps at most `capacity` compiled items.
  explicit PatternCache(std::size_t capacity = 1024);
  ~PatternCache();

  /// Whether `item` matches `name`; kMalformed with RE2's words when it is not an expression, or is
  /// longer than kMaxItemBytes.
  apimachinery::Result<bool> Matches(std::string_view item, std::string_view name);

  /// Compiled items, for tests and metrics.
  std::size_t size() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PATTERN_CACHE_H_
