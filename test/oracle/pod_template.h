/// @file
/// What the oracle reads in stored objects.
#ifndef KUBEXX_TEST_ORACLE_POD_TEMPLATE_H_
#define KUBEXX_TEST_ORACLE_POD_TEMPLATE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::oracle {

/// As JSON; "" when there is none.
std::string TextOf(const codec::JsonTree* tree);

/// Whether two texts are one JSON value: a patch may leave the members of an object in another
/// order.
bool IsSameJson(const std::string& a, const std::string& b);

/// The data of a ConfigMap or Secret.
std::string DataOf(const codec::JsonTree& source);

/// Stands in data with which containers crash, as it is and in base64.
inline constexpr std::string_view kBadData = "bad";
inline constexpr std::string_view kBadDataInBase64 = "YmFk";
/// Whether containers crash with these data, as DataOf returns them.
inline bool IsBad(std::string_view data) {
  return data.find(kBadData) != std::string_view::npos ||
         data.find(kBadDataInBase64) != std::string_view::npos;
}

/// A pod template without what operators write there.
std::string OthersPartOf(codec::JsonTree pod_template);

/// What operators say in a pod template of the data that it was rolled for; empty: nothing.
std::string StampsIn(const codec::JsonTree& pod_template);

/// Whether any of the stamps `now`, as StampsIn returns them, was not among `before`.
bool HasNewStamp(const std::string& before, const std::string& now);

/// Whether `baseline` is one of the workload with this UID.
bool IsBaselineOf(std::string_view baseline, const std::string& uid);

/// Whether an operator has created the Job, `object`, in place of another, together with the
/// baseline that it has, as its managed fields tell. That names the other.
bool IsMadeWithBaseline(std::string_view baseline, const codec::JsonTree& object);

/// What is wrong with the history on a workload with this UID that an operator has just rolled, and
/// whose pod template has these stamps; empty: nothing. The newest rollout that it tells of has to
/// be for a source of a stamp. `history`: the annotation's value.
std::string WrongInHistory(const std::string& history, const std::string& uid,
                           const std::string& stamps);

/// What a baseline says of data, by source.
std::map<std::string, std::string> DigestsIn(const std::string& baseline);

/// When anybody but an operator, and whoever undid or restarted a rollout, last wrote the pod
/// template of a workload, according to its managed fields: RFC 3339; empty: they do not tell.
std::string TemplateWrittenIn(const codec::JsonTree& workload);

/// When an operator last rolled a workload, or recorded a Job that it had made of a CronJob, in the
/// same form.
std::string OwnWrittenIn(const codec::JsonTree& workload);

/// When whoever undid or restarted a rollout last wrote the pod template, in the same form.
std::string UndoneIn(const codec::JsonTree& workload);

/// When anybody last wrote the data of a ConfigMap or Secret, in the same form.
std::string DataWrittenIn(const codec::JsonTree& source);

/// What is known of a workload that may leave an operator that begins in doubt about its pods. The
/// times are those that the functions above return.
struct DoubtfulPods {
  std::string_view baseline;
  std::string_view template_written;
  std::string_view own_written;
  std::string_view undone;
  bool is_of_jobs = false;  ///< of a CronJob, whose template makes no pods
};

/// Whether an operator that begins cannot know what the pods of a workload have of the source: the
/// baseline was written before others wrote the template, and for an older version of the source
/// than `version`. Where the operator itself has rolled the workload since then, the data must have
/// been written after that, and up to ten minutes after it, at `data_written`; where a person has
/// undone or restarted a rollout since, after that. Of a CronJob only the Jobs count that operators
/// make.
bool IsDoubtful(const DoubtfulPods& pods, const std::string& source, std::int64_t version,
                std::string_view data_written);

/// Whether the baseline of a workload leaves that in doubt from now on for each operator that
/// begins after another write of the source, be it only a label: it was written before others wrote
/// the template, and no rollout of an operator has followed, after which that question ends by
/// itself.
bool StaysInDoubt(const DoubtfulPods& pods, const std::string& source);

/// Begins the names of SecretProviderClasses as sources.
inline constexpr std::string_view kProviderClasses = "secretproviderclasses/";
inline bool IsProviderClass(std::string_view source) {
  return source.starts_with(kProviderClasses);
}

/// The kind of objects that are described to operators as sources, with what ConfigMaps have in
/// `data`.
inline constexpr const char* kObjectKind = "Build";
inline constexpr const char* kObjectPlural = "builds";
inline bool IsObject(std::string_view source) { return source.starts_with("builds/"); }

/// What the pods of a template in the namespace `space` take data from: "configmaps/ns/name" and
/// "secrets/ns/name", of what is in `envFrom` and in volumes; "secretproviderclasses/ns/name"; and
/// "builds/ns/name" of what its annotation names, and sources of other namespaces, see ForeignOf,
/// of what another one does. Of what variables take single keys from: with `by_key` a view of the
/// source for each, see ViewOf; otherwise the source.
std::vector<std::string> SourcesOf(const codec::JsonTree& pod_template, const std::string& space,
                                   bool by_key);

/// A source as those workloads see it for which only one of its keys counts:
/// "configmaps/ns/name#key".
inline std::string ViewOf(const std::string& source, std::string_view key) {
  return source + "#" + std::string(key);
}
/// A source as workloads of another namespace know it is "configmaps/THEIRS/ns/name".
/// Whether it is one of another namespace.
inline bool IsForeign(std::string_view source) { return std::ranges::count(source, '/') > 2; }
/// The namespace in the key of a workload or source, "plural/ns/name". Pure.
inline std::string_view SpaceOf(std::string_view key) {
  const std::size_t begin = key.find('/') + 1;
  return key.substr(begin, key.find('/', begin) - begin);
}
/// Whether it is a view of a source.
inline bool IsView(std::string_view source) { return source.find('#') != std::string_view::npos; }
/// The source of a view; of a source, itself.
inline std::string SourceOf(const std::string& view) { return view.substr(0, view.find('#')); }
/// Whether an operator's variable for the source or view among `stamps`, as StampsIn returns them,
/// tells of other data than these.
bool TellsOfOtherData(const std::string& stamps, const std::string& source,
                      const std::string& data);
/// The data of a view, as of a source that has no other key, by the view's key. `data`: what DataOf
/// returns for the source.
std::map<std::string, std::string> DataByKey(const std::string& data);
/// The digest of the data of a source or view, as operators write it. `data`: what DataOf returns
/// for the source.
std::optional<std::string> DigestTextOf(const std::string& source, const std::string& data);

/// Whether `baseline`, of a workload in the namespace of the source, says anything of the source.
bool IsNamed(const std::string& baseline, const std::string& source);

/// Whether `baseline`, of a workload in the namespace of the source or view, says of it that it has
/// these data; of a SecretProviderClass, this version of its only object, whose id is kObjectId.
bool IsRecorded(const std::string& baseline, const std::string& source, const std::string& data);

/// Whether the record of rolled data on a workload with this UID, see
/// reloadpolicy::kRolledDataAnnotation, says that it has failed with these data of the source.
bool HasFailedWith(const std::string& rolled_data, const std::string& uid,
                   const std::string& source, const std::string& data);

/// What a SecretProviderClass names.
inline constexpr const char* kObjectId = "object";

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_POD_TEMPLATE_H_
