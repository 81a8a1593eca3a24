// Tables of the objects that make pods, and of those that control their number.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

JsonTree ContainersCell(const JsonTree& o) {
  return MembersAt(o, {"spec", "template", "spec", "containers"}, "name");
}
JsonTree ImagesCell(const JsonTree& o) {
  return MembersAt(o, {"spec", "template", "spec", "containers"}, "image");
}
JsonTree SelectorCell(const JsonTree& o) { return SelectorAt(o, {"spec", "selector"}); }
/// Returns the selector of a ReplicationController, which is a plain map.
JsonTree PlainSelectorCell(const JsonTree& o) { return LabelsAt(o, {"spec", "selector"}); }

constexpr Column kContainers{"Containers", "string", ContainersCell, 1};
constexpr Column kImages{"Images", "string", ImagesCell, 1};
constexpr Column kSelector{"Selector", "string", SelectorCell, 1};

JsonTree DesiredCell(const JsonTree& o) { return NumberAt(o, {"spec", "replicas"}); }
JsonTree CurrentCell(const JsonTree& o) { return NumberAt(o, {"status", "replicas"}); }
JsonTree ReadyCell(const JsonTree& o) { return NumberAt(o, {"status", "readyReplicas"}); }
JsonTree ReadyOfCell(const JsonTree& o) {
  return std::to_string(NumberAt(o, {"status", "readyReplicas"})) + "/" +
         std::to_string(NumberAt(o, {"spec", "replicas"}));
}
JsonTree UpdatedCell(const JsonTree& o) { return NumberAt(o, {"status", "updatedReplicas"}); }
JsonTree AvailableCell(const JsonTree& o) { return NumberAt(o, {"status", "availableReplicas"}); }

JsonTree ScheduledWantedCell(const JsonTree& o) {
  return NumberAt(o, {"status", "desiredNumberScheduled"});
}
JsonTree ScheduledCell(const JsonTree& o) {
  return NumberAt(o, {"status", "currentNumberScheduled"});
}
JsonTree NumberReadyCell(const JsonTree& o) { return NumberAt(o, {"status", "numberReady"}); }
JsonTree UpdatedScheduledCell(const JsonTree& o) {
  return NumberAt(o, {"status", "updatedNumberScheduled"});
}
JsonTree NumberAvailableCell(const JsonTree& o) {
  return NumberAt(o, {"status", "numberAvailable"});
}
JsonTree NodeSelectorCell(const JsonTree& o) {
  return LabelsAt(o, {"spec", "template", "spec", "nodeSelector"});
}

JsonTree JobStatusCell(const JsonTree& o) {
  if (ConditionHolds(o, "Complete")) {
    return "Complete";
  }
  if (ConditionHolds(o, "Failed")) {
    return "Failed";
  }
  if (IsDeleting(o)) {
    return "Terminating";
  }
  for (const char* const type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (ConditionHolds(o, type)) {
      return type;
    }
  }
  return "Running";
}
JsonTree CompletionsCell(const JsonTree& o) {
  const std::string done = std::to_string(NumberAt(o, {"status", "succeeded"}));
  if (const auto wanted = ValueAt(o, {"spec", "completions"})) {
    return done + "/" + *wanted;
  }
  const std::int64_t parallel = NumberAt(o, {"spec", "parallelism"});
  return done + "/1" + (parallel > 1 ? " of " + std::to_string(parallel) : "");
}
JsonTree JobDurationCell(const JsonTree& o) {
  const std::string began = StringAt(o, {"status", "startTime"});
  const std::string ended = StringAt(o, {"status", "completionTime"});
  if (began.empty()) {
    return "";
  }
  const auto from = apimachinery::Time::Parse(began);
  const auto to = apimachinery::Time::Parse(ended);
  return from && to ? HumanDuration(std::chrono::seconds(to->seconds - from->seconds))
                    : SinceText(began);
}

JsonTree ScheduleCell(const JsonTree& o) { return StringAt(o, {"spec", "schedule"}); }
JsonTree TimezoneCell(const JsonTree& o) { return OrElse(StringAt(o, {"spec", "timeZone"})); }
JsonTree SuspendCell(const JsonTree& o) {
  const JsonTree* const suspend = o.At({"spec", "suspend"});
  return suspend == nullptr || suspend->IsNull()
             ? "<unset>"
             : (suspend->AsBool().value_or(false) ? "True" : "False");
}
JsonTree ActiveCell(const JsonTree& o) { return SizeAt(o, {"status", "active"}); }
JsonTree LastScheduleCell(const JsonTree& o) {
  const std::string last = StringAt(o, {"status", "lastScheduleTime"});
  return last.empty() ? "<none>" : SinceText(last);
}
JsonTree CronContainersCell(const JsonTree& o) {
  return MembersAt(o, {"spec", "jobTemplate", "spec", "template", "spec", "containers"}, "name");
}
JsonTree CronImagesCell(const JsonTree& o) {
  return MembersAt(o, {"spec", "jobTemplate", "spec", "template", "spec", "containers"}, "image");
}
JsonTree CronSelectorCell(const JsonTree& o) {
  return SelectorAt(o, {"spec", "jobTemplate", "spec", "selector"});
}

JsonTree ControllerCell(const JsonTree& o) {
  for (const JsonTree& owner : ElementsAt(o, {"metadata", "ownerReferences"})) {
    if (FlagAt(owner, {"controller"})) {
      const std::string version(owner.TextAt("apiVersion"));
      const std::size_t slash = version.find('/');
      return base::ToLower(std::string(owner.TextAt("kind"))) +
             (slash == std::string::npos ? "" : "." + version.substr(0, slash)) + "/" +
             std::string(owner.TextAt("name"));
    }
  }
  return "<none>";
}
JsonTree RevisionCell(const JsonTree& o) { return NumberAt(o, {"revision"}); }

JsonTree MinAvailableCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "minAvailable"}).value_or("N/A");
}
JsonTree MaxUnavailableCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "maxUnavailable"}).value_or("N/A");
}
JsonTree DisruptionsCell(const JsonTree& o) {
  return NumberAt(o, {"status", "disruptionsAllowed"});
}

constexpr Column kReplicaColumns[] = {kNameColumn,
                                      {"Desired", "integer", DesiredCell},
                                      {"Current", "integer", CurrentCell},
                                      {"Ready", "integer", ReadyCell},
                                      kAgeColumn,
                                      kContainers,
                                      kImages,
                                      kSelector};
constexpr Column kReplicationColumns[] = {kNameColumn,
                                          {"Desired", "integer", DesiredCell},
                                          {"Current", "integer", CurrentCell},
                                          {"Ready", "integer", ReadyCell},
                                          kAgeColumn,
                                          kContainers,
                                          kImages,
                                          {"Selector", "string", PlainSelectorCell, 1}};
constexpr Column kDeploymentColumns[] = {kNameColumn,
                                         {"Ready", "string", ReadyOfCell},
                                         {"Up-to-date", "string", UpdatedCell},
                                         {"Available", "string", AvailableCell},
                                         kAgeColumn,
                                         kContainers,
                                         kImages,
                                         kSelector};
constexpr Column kDaemonSetColumns[] = {kNameColumn,
                                        {"Desired", "integer", ScheduledWantedCell},
                                        {"Current", "integer", ScheduledCell},
                                        {"Ready", "integer", NumberReadyCell},
                                        {"Up-to-date", "integer", UpdatedScheduledCell},
                                        {"Available", "integer", NumberAvailableCell},
                                        {"Node Selector", "string", NodeSelectorCell},
                                        kAgeColumn,
                                        kContainers,
                                        kImages,
                                        kSelector};
constexpr Column kStatefulSetColumns[] = {
    kNameColumn, {"Ready", "string", ReadyOfCell}, kAgeColumn, kContainers, kImages};
constexpr Column kJobColumns[] = {kNameColumn,
                                  {"Status", "string", JobStatusCell},
                                  {"Completions", "string", CompletionsCell},
                                  {"Duration", "string", JobDurationCell},
                                  kAgeColumn,
                                  kContainers,
                                  kImages,
                                  kSelector};
constexpr Column kCronJobColumns[] = {kNameColumn,
                                      {"Schedule", "string", ScheduleCell},
                                      {"Timezone", "string", TimezoneCell},
                                      {"Suspend", "boolean", SuspendCell},
                                      {"Active", "integer", ActiveCell},
                                      {"Last Schedule", "string", LastScheduleCell},
                                      kAgeColumn,
                                      {"Containers", "string", CronContainersCell, 1},
                                      {"Images", "string", CronImagesCell, 1},
                                      {"Selector", "string", CronSelectorCell, 1}};
constexpr Column kRevisionColumns[] = {kNameColumn,
                                       {"Controller", "string", ControllerCell},
                                       {"Revision", "string", RevisionCell},
                                       kAgeColumn};
constexpr Column kBudgetColumns[] = {kNameColumn,
                                     {"Min Available", "string", MinAvailableCell},
                                     {"Max Unavailable", "string", MaxUnavailableCell},
                                     {"Allowed Disruptions", "integer", DisruptionsCell},
                                     kAgeColumn};
constexpr Column kScaleColumns[] = {kNameColumn,
                                    {"Desired", "integer", DesiredCell},
                                    {"Available", "integer", CurrentCell},
                                    kAgeColumn};

}  // namespace

constexpr ColumnTable kDeploymentTable{.columns = kDeploymentColumns};
constexpr ColumnTable kReplicaSetTable{.columns = kReplicaColumns};
constexpr ColumnTable kReplicationControllerTable{.columns = kReplicationColumns};
constexpr ColumnTable kDaemonSetTable{.columns = kDaemonSetColumns};
constexpr ColumnTable kStatefulSetTable{.columns = kStatefulSetColumns};
constexpr ColumnTable kControllerRevisionTable{.columns = kRevisionColumns};
constexpr ColumnTable kJobTable{.columns = kJobColumns};
constexpr ColumnTable kCronJobTable{.columns = kCronJobColumns};
constexpr ColumnTable kDisruptionBudgetTable{.columns = kBudgetColumns};
constexpr ColumnTable kScaleTable{.columns = kScaleColumns};

}  // namespace kubexx::apiserver
