/// @file
/// What an informer's readers must be told: objects that do not decode, or could not be read at
/// all.
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

/// What could not be read of a full state, or of the changes since.
struct Unreadable {
  std::size_t count = 0;
  apimachinery::Status first{};

  void Add(const apimachinery::Status& why) {
    if (count++ == 0) {
      first = why;
    }
  }
};

/// Counts and logs what is wrong with the objects of one store, and knows what it lacks. The scopes
/// are the store's namespaces when each has a source of its own, otherwise one empty one.
/// Thread-safe.
class StoreFaults {
 public:
  /// Settings of StoreFaults.
  struct Options {
    std::string name{};  ///< of the informer, for the log
    base::Clock& clock = base::Clock::Real();
    metrics::Counter undecodable{};
  };

  explicit StoreFaults(Options options)
      : options_(std::move(options)), undecodable_lines_(options_.clock) {}

  /// Nobody but the log may hear of it: a handler was to be told of an object that does not decode.
  void ReportUndecodable(const apimachinery::ObjectKey& key, const apimachinery::Status& status);
  /// A reader is told of one.
  void CountUndecodable() const { options_.undecodable.Increment(); }

  /// The error with the object, and the informer, in front of its message.
  apimachinery::Status Named(const apimachinery::ObjectKey& key,
                             const apimachinery::Status& status) const;

  /// Whether the scope has had a full state.
  bool HasState(std::string_view scope) const;
  /// A full state of the scope was stored, which lacks so much.
  void Replace(std::string_view scope, Unreadable unreadable);
  /// The scope lacks something from now on.
  void Add(std::string_view scope, const apimachinery::Status& why);
  /// kMalformed, with the first reason, when the scope lacks something.
  apimachinery::Result<void> Check(std::string_view scope) const;
  /// The same of all scopes.
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
