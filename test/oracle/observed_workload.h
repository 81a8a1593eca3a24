/// @file
/// What an Oracle knows of one workload.
#ifndef KUBEXX_TEST_ORACLE_OBSERVED_WORKLOAD_H_
#define KUBEXX_TEST_ORACLE_OBSERVED_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::oracle {

/// The annotation by which people say that a change of a pod template is theirs, each time with
/// another value: whose a change was must not be concluded from what operators conclude it from.
inline constexpr const char* kMarkAnnotation = "oracle/by";
/// The annotation by which people say that a Deployment's pause is theirs.
inline constexpr const char* kHeldAnnotation = "oracle/held";
/// The annotation by which people say that a Deployment only lends its template to a Rollout.
inline constexpr const char* kBaseAnnotation = "oracle/base";
/// Begins the mark of an undo.
inline constexpr const char* kUndoMark = "undo";
/// Begins the mark that people put on a Job before they delete it: one that is gone without it was
/// deleted by an operator, to be made anew.
inline constexpr const char* kDeleteMark = "delete";

/// A workload as its last version in the storage has it, and what has become of it before. Not
/// thread-safe.
struct ObservedWorkload {
  std::string uid{};
  std::string template_text{};  ///< the whole template
  std::string others_text{};    ///< without what operators write there
  std::string stamps{};         ///< what operators say there that it was rolled for
  std::string mark{};           ///< of the last change that was not an operator's
  std::string annotations{};    ///< of the workload itself, as JSON
  /// What its pods read when they were made: the data of each source; nothing: there was none.
  std::map<std::string, std::optional<std::string>> read{};
  /// What pods of the same template have read that began later, where it is something else, by
  /// source: see Oracle::PodBegins.
  std::map<std::string, std::set<std::string>> read_later{};
  std::string baseline{};  ///< what an operator has recorded that it runs with
  std::string history{};   ///< what an operator has recorded of its rollouts
  /// What an operator has recorded of the data that it was rolled for in a wave.
  std::string rolled_data{};
  /// While waves are judged, by source: the data with which later waves may follow, since its pods
  /// have been healthy with them for long enough, or others gave it these data.
  std::map<std::string, std::set<std::string>> proven{};
  /// When others last wrote the template, as the managed fields tell operators: RFC 3339, or empty.
  std::string template_written{};
  /// The same, when the template was last another one. Later it is the time of a write of something
  /// else by whoever released.
  std::string released{};
  std::string own_written{};    ///< when an operator last rolled it, in the same way
  std::string undone{};         ///< when a person last undid or restarted a rollout
  std::int64_t generation = 0;  ///< with that of the Deployment that a Rollout names
  std::int64_t observed = 0;
  std::int64_t base_generation = 0;  ///< that part of it
  std::string base{};                ///< "deployments/ns/name" of it; empty: there is none
  std::int64_t replicas = 0;
  std::int64_t rolled_generation = 0;  ///< of the last rollout of an operator
  /// Of the last change that makes pods: of the template, or to more replicas.
  std::int64_t growing_generation = 0;
  std::uint64_t rolled = 0;
  std::uint64_t reasons = 0;  ///< for rollouts: changes of data
  std::uint64_t doubts = 0;   ///< for which operators may make one more each
  base::TimePoint made{};
  base::TimePoint template_since{};
  std::int64_t template_at = 0;  ///< the revision of that write
  base::TimePoint data_since{};  ///< a source of it changed
  base::TimePoint asked_at{};    ///< when its people last opted out or in, or put it on hold
  /// All pods of the present template have been available since; nothing: they have not been yet.
  std::optional<base::TimePoint> healthy_since{};
  std::optional<base::TimePoint> blind{};  ///< a rollout was sent that goes by no version
  /// Somebody took the baseline away then, and none has been written since.
  std::optional<base::TimePoint> baseline_gone{};
  bool is_data_new = false;  ///< a source has changed since it was made
  bool was_stamped = false;  ///< by a copy, when it was made
  bool was_rolled = false;   ///< by an operator, since it was made
  /// Its pods began with other data than those that an operator has recorded first, and nobody has
  /// made others since then.
  bool is_behind_record = false;
  bool is_of_others = true;  ///< the template's last change
  bool is_mixed = false;     ///< pods of several templates may be alive, or were undone
  bool is_restored = false;  ///< from a backup, and not made anew since
  bool is_undone = false;    ///< with whole pods, and nothing has happened to it since
  /// An operator in doubt has begun to reload its pods in place: the baseline names no data of a
  /// source since then, until pods have read them or, where that fails, it is rolled.
  bool is_doubted_in_place = false;
  bool is_opted_out = false;   ///< its people want no rollouts
  bool is_on_hold = false;     ///< its people want them later
  bool is_by_key = false;      ///< of its sources only those keys count that it uses
  bool is_paused = false;      ///< spec.paused
  bool is_held = false;        ///< by its people
  bool awaits_resume = false;  ///< its template changed during a pause, so it has no pods of it yet
  bool is_unrecorded = false;  ///< its people want no baseline
  bool was_held = false;       ///< a source of it has been paused since it was made, or was then
  bool is_crashing = false;    ///< its status says that none of its pods is available
  bool is_gone = false;        ///< a Job that an operator has deleted
  bool is_left_behind = false;  ///< counted as Oracle::Counts::left_behind
  bool has_ended = false;       ///< a Job that operators leave alone from then on
  bool was_asked_for = false;   ///< its people have changed what they ask for since SetStrict

  /// Takes over all that a version says beside its pod template.
  void Take(const codec::JsonTree& object);
  /// Takes over which sources the template `pod` reads; what they have is not known then. `key` is
  /// the workload's: "deployments/ns/name".
  void TakeSources(const std::string& key, const codec::JsonTree& pod);
};

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_OBSERVED_WORKLOAD_H_
