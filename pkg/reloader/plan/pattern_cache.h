/// @file
/// Compiled reload lists.
#ifndef KUBEXX_RELOADER_PLAN_PATTERN_CACHE_H_
#define KUBEXX_RELOADER_PLAN_PATTERN_CACHE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/plan/pattern_list.h"

namespace kubexx::reloader {

/// Keeps reload lists compiled, in bounded memory. Thread-safe. Who matches many names should get
/// the list once, and so compiles it once at most, whatever the other lists are.
class PatternCache {
 public:
  /// Keeps lists of together at most `max_bytes` (PatternList::bytes). It is far above what they
  /// take in the end, so this is room for some thousand usual expressions.
  explicit PatternCache(std::size_t max_bytes = 32 << 20) : max_bytes_(max_bytes) {}

  /// The list with this text; compiles it if it is not here.
  std::shared_ptr<const PatternList> Get(std::string_view list);

  /// The same, but null where it is not here.
  std::shared_ptr<const PatternList> GetIfHere(std::string_view list) const;

  /// The largest size of the lists that are here, in bytes, for tests and metrics.
  std::size_t bytes() const;

  /// How many lists have been compiled so far, for tests.
  std::size_t compiled() const;

 private:
  const std::size_t max_bytes_;
  mutable base::Mutex mu_;
  std::map<std::string, std::shared_ptr<const PatternList>, std::less<>> lists_ KX_GUARDED_BY(mu_);
  std::size_t bytes_ KX_GUARDED_BY(mu_) = 0;
  std::size_t compiled_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PATTERN_CACHE_H_
