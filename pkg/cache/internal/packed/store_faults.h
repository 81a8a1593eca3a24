/// @file
/// StoreFaults: the objects of a store that could not be decoded, or that could not be read at all.
/// The informer's readers have to be told of them.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_STORE_FAULTS_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_STORE_FAULTS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// The objects of a full state, or of later changes, that could not be read.
struct Unreadable {
  std::size_t count = 0;
  apimachinery::Status first{};

  void Add(const apimachinery::Status& why) {
    if (count++ == 0) {
      first = why;
    }
  }
};

/// Counts and logs the faults of a store's objects, and knows what the store lacks. A scope is a
/// namespace when each namespace has a source of its own. Otherwise there is a single scope, whose
/// name is empty. Thread-safe.
class StoreFaults {
 public:
  /// Settings of StoreFaults.
  struct Options {
    std::string name{};  ///< the informer's name, for the log
    base::Clock& clock = base::Clock::Real();
    metrics::Counter undecodable{};
  };

  explicit StoreFaults(Options options)
      : options_(std::move(options)), undecodable_lines_(options_.clock) {}

  /// Logs and counts that the object of a handler's event could not be decoded. Nothing but the log
  /// may tell of this fault.
  void ReportUndecodable(const apimachinery::ObjectKey& key, const apimachinery::Status& status);
  /// Counts that a reader got an error because an object could not be decoded.
  void CountUndecodable() const { options_.undecodable.Increment(); }

  /// Returns the error with the object and the informer at the beginning of its message.
  apimachinery::Status Named(const apimachinery::ObjectKey& key,
                             const apimachinery::Status& status) const;

  /// Whether the store has had a full state of the scope.
  bool HasState(std::string_view scope) const;
  /// Records that a full state of the scope was stored, and which objects it lacks.
  void Replace(std::string_view scope, Unreadable unreadable);
  /// Records that the scope lacks one more object or change.
  void Add(std::string_view scope, const apimachinery::Status& why);
  /// Returns kMalformed, with the first reason, when the scope lacks something.
  apimachinery::Result<void> Check(std::string_view scope) const;
  /// Like Check, for all scopes.
  apimachinery::Result<void> CheckAll() const;

 private:
  apimachinery::Error ErrorOf(const Unreadable& unreadable) const;

  const Options options_;
  base::ReportLimit undecodable_lines_;
  mutable base::Mutex mu_;
  std::map<std::string, Unreadable, std::less<>> unreadable_ KX_GUARDED_BY(mu_);
  std::set<std::string, std::less<>> scopes_with_state_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_STORE_FAULTS_H_
