/// @file
/// The pod templates whose events have been handled.
#ifndef KUBEXX_RELOADER_PLAN_TOLD_TEMPLATES_H_
#define KUBEXX_RELOADER_PLAN_TOLD_TEMPLATES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// Remembers of each workload the pod template that the last event told of. An informer stores an
/// object before it calls its handlers, so a worker may find a template in the store of which no
/// handler knows yet: who wrote it, and whether it is an earlier one that came back. Keeps some 40
/// bytes for each workload whose events are handled, whether a rule applies to it or not: of any of
/// them a rule may be made later, and one of which nothing has been told must not pass for known.
/// Thread-safe; never blocks.
class ToldTemplates {
 public:
  /// Whether a workload can be planned whose template in an informer's store is the given one.
  enum class Telling : std::uint8_t {
    kTold,  ///< plan the workload
    /// The event with this template is still to come. A plan would not know yet who changed the
    /// template, or, for a workload that has just appeared, what had changed before.
    kOnTheWay,
    /// LookFor has returned kOnTheWay kMostLooks times, so the event was lost. Plan the workload.
    /// Returned once.
    kLost,
  };
  static constexpr std::uint32_t kMostLooks = 200;

  /// An event with this pod template has been handled completely.
  void Told(const WorkloadId& workload, const TemplateVersion& version);
  /// Whether the event with `version`, which an informer's store has, was handled. A template whose
  /// version is not known counts as told.
  Telling LookFor(const WorkloadId& workload, const TemplateVersion& version);
  /// The workload was deleted.
  void Forget(const WorkloadId& workload);

 private:
  struct Entry {
    std::size_t told = 0;     ///< hash of the TemplateVersion in the last event; 0: none was told
    std::uint32_t looks = 0;  ///< how often in a row LookFor has waited for another one
  };

  base::Mutex mu_;
  /// By hashes of WorkloadIds: names would take several times the room. Of two with one hash the
  /// one is put off for kMostLooks looks after each event of the other.
  std::unordered_map<std::size_t, Entry> entries_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_TOLD_TEMPLATES_H_
