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

/// Matches names against the items of reload lists. Each item is a regular expression in Go's (RE2)
/// syntax and is used as `^item$` without grouping, so "a|b" means `^a` or `b$`. An item is
/// compiled once while it is in use. Thread-safe. Matching takes time linear in its input and
/// bounded memory, whatever the expression.
class PatternCache {
 public:
  /// A longer item is rejected: names have at most 253 characters.
  static constexpr std::size_t kMaxItemBytes = 4096;

  /// Keeps at most `capacity` compiled items.
  explicit PatternCache(std::size_t capacity = 1024);
  ~PatternCache();

  /// Returns whether `item` matches `name`. Fails with kMalformed and RE2's message when `item` is
  /// not a regular expression, or is longer than kMaxItemBytes.
  apimachinery::Result<bool> Matches(std::string_view item, std::string_view name);

  /// The number of compiled items, for tests and metrics.
  std::size_t size() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PATTERN_CACHE_H_
