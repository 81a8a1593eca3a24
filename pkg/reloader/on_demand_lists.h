/// @file
/// Changes of sources, for workloads that are not watched.
#ifndef KUBEXX_RELOADER_ON_DEMAND_LISTS_H_
#define KUBEXX_RELOADER_ON_DEMAND_LISTS_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/reloader/digest.h"
#include "kubexx/reloader/source.h"
#include "kubexx/reloader/workload_source.h"

namespace kubexx::reloader {

/// Collects the changes of sources while workloads are listed, and passes each on once the store
/// has a list that began after it: one list answers all changes that wait, however many there are.
/// Thread-safe.
class OnDemandLists {
 public:
  /// One kind in one namespace, or in all when the namespace is empty.
  struct Member {
    std::string namespace_{};
    std::shared_ptr<WorkloadSource> source{};
    std::shared_ptr<cache::SharedInformerBase> informer{};
  };
  /// A change; without digest when the source has just appeared, or when it is not the data that
  /// has changed. Of several changes of one source the first digest counts.
  using Pass = std::function<void(const SourceId&, const std::optional<Digest>& before)>;

  /// `pass` is called on this object's thread, and must not block for long.
  OnDemandLists(std::vector<Member> members, base::Clock& clock, Pass pass);
  /// Drops what waits, and joins.
  ~OnDemandLists() = default;
  OnDemandLists(const OnDemandLists&) = delete;
  OnDemandLists& operator=(const OnDemandLists&) = delete;

  void Start();
  void Stop();
  /// Takes a change when something in its namespace is on demand; whether it did.
  bool Changed(const SourceId& source, const std::optional<Digest>& before);
  /// The digests from before the changes in the namespace that wait, or are being listed for: a
  /// workload that a list brings may run with the data from before.
  std::vector<std::pair<SourceId, Digest>> Before(std::string_view namespace_) const;
  /// Whether workloads of the kind in the namespace are on demand: their changes come by `pass`.
  bool Covers(WorkloadKind kind, std::string_view namespace_) const;

 private:
  using Changes = std::map<SourceId, std::optional<Digest>>;

  static bool IsIn(const Member& member, std::string_view namespace_);
  void Run(const std::stop_token& stop);
  /// Everything that waits, which is listed_for_ from now on; empty when `stop` is requested first.
  Changes Await(const std::stop_token& stop);
  void ListAll(const Changes& changes, const std::stop_token& stop);
  void AwaitStored(const Member& member, const std::string& version, const std::stop_token& stop);

  const std::vector<Member> members_;
  base::Clock& clock_;
  const Pass pass_;
  mutable base::Mutex mu_;
  base::CondVar changed_;
  Changes waiting_ KX_GUARDED_BY(mu_);
  Changes listed_for_ KX_GUARDED_BY(mu_);
  std::jthread thread_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ON_DEMAND_LISTS_H_
