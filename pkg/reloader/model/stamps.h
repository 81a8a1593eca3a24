/// @file
/// Finds out who wrote a stamp: a variable or annotation that a rollout leaves in a pod template.
#ifndef KUBEXX_RELOADER_MODEL_STAMPS_H_
#define KUBEXX_RELOADER_MODEL_STAMPS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::reloader {

struct Workload;

/// Who gave a stamp its present value. A value type.
struct Stamper {
  bool is_operator = false;
  /// If not the operator: a tool that keeps the workload as it is described elsewhere.
  bool is_tool = false;
  /// If not the operator: when it was written; zero when the managed fields do not tell the time of
  /// this stamp alone.
  apimachinery::Time since{};
  bool operator==(const Stamper&) const = default;
};

/// The writers by the stamp's name: the name of a variable with kEnvVarPrefix, or the key
/// kLastReloadedFrom or kRestartedFor of an annotation of the pod template. Does not contain stamps
/// about which the managed fields tell nothing.
using Stampers = std::map<std::string, Stamper>;

/// The writers of the stamps in `workload`'s pod template. `metadata` is that of the object that
/// contains the template. A value that the operator and somebody else own together counts as the
/// operator's. In custom resources all containers are one managed field; there the result names
/// whoever changed any container last.
Stampers StampersOf(const Workload& workload, const api::meta::v1::ObjectMeta& metadata);

/// Encodes `stampers` as a text without line breaks, which is short when all stamps are the
/// operator's.
std::string TextOf(const Stampers& stampers, const Workload& workload);
/// The inverse of TextOf, for the same workload. Leaves out what cannot be read.
Stampers StampersFrom(std::string_view text, const Workload& workload);

/// Who made the change from one pod template of a workload to another.
enum class TemplateWriter : std::uint8_t {
  kUnknown,   ///< the managed fields do not tell: a stamp was only removed, which nobody owns
  kOperator,  ///< the operator owns every stamp that is new or has another value
  kOther,     ///< somebody else owns one of them, or no stamp has changed
};
TemplateWriter WriterOfTemplate(const Workload& before, const Workload& now);

/// The stamps that the operator (any replica) gave their present values between two states of one
/// workload, by the only write of its spec between them; with these values: variables, and
/// kLastReloadedFrom. kRestartedFor says nothing of data, and is left out. Empty where there was
/// another write as well: then pods may have begun since that have other data under the same
/// stamps. Empty for workloads whose template says nothing of pods: CronJobs, and Rollouts that use
/// a Deployment's.
std::map<std::string, std::string> StampsOfOneRollout(const Workload& before, const Workload& now);

/// The names of the stamps that the operator (any replica) gave their present values between two
/// states of one workload, whatever else was written between them; otherwise as StampsOfOneRollout.
/// Pods that began since then may have other data than their stamps say.
std::set<std::string> StampsOfRollouts(const Workload& before, const Workload& now);

/// Whether the workload has a baseline that the operator (any replica) wrote last.
bool HasOwnRecord(const Workload& workload);

/// Whether the operator (any replica) wrote a baseline between these two states of a workload.
bool HasRecorded(const Workload& before, const Workload& now);

/// Whether somebody has undone a rollout between these two states of a workload. This is so if a
/// stamp of an earlier rollout is back although neither the operator nor a tool wrote it, or if the
/// managed fields name a command that undoes rollouts.
bool IsUndo(const Workload& before, const Workload& now);

/// Whether the pod template may have gone to another one and back between these two states, of
/// which nothing in between was seen: both have the same, but somebody has written the template, by
/// an undo or a release, and the spec has changed more than once. Pods of the other template lived
/// between those of before and those that live now. Pure.
bool MayHaveGoneThereAndBack(const Workload& before, const Workload& now);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_STAMPS_H_
