// Tables of pods, whose state is computed from that of their containers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// The summary of the containers of a pod.
struct PodSummary {
  std::int64_t containers = 0;
  std::int64_t ready = 0;
  std::int64_t restarts = 0;
  std::string last_restart{};  ///< when a container ended before it began anew
  std::string status{};
};

/// The restarts, and the time of the last one.
struct Restarts {
  std::int64_t count = 0;
  std::string last{};

  void Add(const JsonTree& container) {
    count += NumberAt(container, {"restartCount"});
    const std::string ended = StringAt(container, {"lastState", "terminated", "finishedAt"});
    if (ended > last) {  // RFC 3339 times in UTC sort like the times themselves
      last = ended;
    }
  }
};

/// Returns the reason of a container that has ended, or its signal or exit code.
std::string EndOf(const JsonTree& terminated) {
  if (const std::string_view reason = terminated.TextAt("reason"); !reason.empty()) {
    return std::string(reason);
  }
  const std::int64_t signal = NumberAt(terminated, {"signal"});
  return signal != 0 ? "Signal:" + std::to_string(signal)
                     : "ExitCode:" + std::to_string(NumberAt(terminated, {"exitCode"}));
}

/// Returns the names of the init containers that run beside the others.
std::set<std::string, std::less<>> SidecarsOf(const JsonTree& pod) {
  std::set<std::string, std::less<>> names;
  for (const JsonTree& container : ElementsAt(pod, {"spec", "initContainers"})) {
    if (container.TextAt("restartPolicy") == "Always") {
      names.emplace(container.TextAt("name"));
    }
  }
  return names;
}

/// Reads the init containers up to the one that runs. Returns whether there is one.
bool SummarizeInit(const JsonTree& pod, Restarts& all, Restarts& of_sidecars, PodSummary& pod_is) {
  const auto sidecars = SidecarsOf(pod);
  pod_is.containers += static_cast<std::int64_t>(sidecars.size());
  std::size_t done = 0;
  for (const JsonTree& container : ElementsAt(pod, {"status", "initContainerStatuses"})) {
    const bool sidecar = sidecars.contains(container.TextAt("name"));
    all.Add(container);
    if (sidecar) {
      of_sidecars.Add(container);
    }
    const JsonTree* const terminated = container.At({"state", "terminated"});
    const std::string waiting = StringAt(container, {"state", "waiting", "reason"});
    if (terminated != nullptr && NumberAt(*terminated, {"exitCode"}) == 0) {
      ++done;
      continue;
    }
    if (sidecar && FlagAt(container, {"started"})) {
      pod_is.ready += FlagAt(container, {"ready"}) ? 1 : 0;
      ++done;
      continue;
    }
    if (terminated != nullptr) {
      pod_is.status = "Init:" + EndOf(*terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      pod_is.status = "Init:" + waiting;
    } else {
      pod_is.status = "Init:" + std::to_string(done) + "/" +
                      std::to_string(SizeAt(pod, {"spec", "initContainers"}));
    }
    return true;
  }
  return false;
}

void SummarizeMain(const JsonTree& pod, Restarts& restarts, PodSummary& pod_is) {
  bool any_running = false;
  const auto statuses = ElementsAt(pod, {"status", "containerStatuses"});
  for (auto at = statuses.rbegin(); at != statuses.rend(); ++at) {
    const JsonTree& container = *at;
    restarts.Add(container);
    const JsonTree* const terminated = container.At({"state", "terminated"});
    const std::string waiting = StringAt(container, {"state", "waiting", "reason"});
    if (!waiting.empty()) {
      pod_is.status = waiting;
    } else if (terminated != nullptr) {
      pod_is.status = EndOf(*terminated);
    } else if (FlagAt(container, {"ready"}) && container.At({"state", "running"}) != nullptr) {
      any_running = true;
      ++pod_is.ready;
    }
  }
  if (pod_is.status == "Completed" && any_running) {
    pod_is.status = ConditionHolds(pod, "Ready") ? "Running" : "NotReady";
  }
}

PodSummary Summarize(const JsonTree& pod) {
  PodSummary pod_is;
  pod_is.containers = static_cast<std::int64_t>(SizeAt(pod, {"spec", "containers"}));
  const std::string phase = StringAt(pod, {"status", "phase"});
  const std::string reason = StringAt(pod, {"status", "reason"});
  pod_is.status = reason.empty() ? phase : reason;
  if (const JsonTree* const scheduled = FindCondition(pod, "PodScheduled");
      scheduled != nullptr && scheduled->TextAt("reason") == "SchedulingGated") {
    pod_is.status = "SchedulingGated";
  }
  Restarts restarts;
  Restarts of_sidecars;
  const bool initializing = SummarizeInit(pod, restarts, of_sidecars, pod_is);
  if (!initializing || ConditionHolds(pod, "Initialized")) {
    restarts = of_sidecars;
    SummarizeMain(pod, restarts, pod_is);
  }
  pod_is.restarts = restarts.count;
  pod_is.last_restart = restarts.last;
  if (IsDeleting(pod) && reason == "NodeLost") {
    pod_is.status = "Unknown";
  } else if (IsDeleting(pod) && phase != "Succeeded" && phase != "Failed") {
    pod_is.status = "Terminating";
  }
  return pod_is;
}

JsonTree PodReadyCell(const JsonTree& pod) {
  const PodSummary summary = Summarize(pod);
  return std::to_string(summary.ready) + "/" + std::to_string(summary.containers);
}
JsonTree PodStatusCell(const JsonTree& pod) { return Summarize(pod).status; }
JsonTree RestartsCell(const JsonTree& pod) {
  const PodSummary summary = Summarize(pod);
  const std::string count = std::to_string(summary.restarts);
  return summary.restarts == 0 || summary.last_restart.empty()
             ? count
             : count + " (" + SinceText(summary.last_restart) + " ago)";
}
JsonTree PodIpCell(const JsonTree& pod) {
  const std::string first = StringAt(pod, {"status", "podIPs", "0", "ip"});
  return OrElse(first.empty() ? StringAt(pod, {"status", "podIP"}) : first);
}
JsonTree PodNodeCell(const JsonTree& pod) { return OrElse(StringAt(pod, {"spec", "nodeName"})); }
JsonTree NominatedCell(const JsonTree& pod) {
  return OrElse(StringAt(pod, {"status", "nominatedNodeName"}));
}
JsonTree GatesCell(const JsonTree& pod) {
  const auto gates = ElementsAt(pod, {"spec", "readinessGates"});
  if (gates.empty()) {
    return "<none>";
  }
  std::set<std::string_view> holding;
  for (const JsonTree& condition : ElementsAt(pod, {"status", "conditions"})) {
    if (condition.TextAt("status") == "True") {
      holding.insert(condition.TextAt("type"));
    }
  }
  const auto open = std::ranges::count_if(gates, [&holding](const JsonTree& gate) {
    return holding.contains(gate.TextAt("conditionType"));
  });
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

JsonTree TemplateContainersCell(const JsonTree& o) {
  return MembersAt(o, {"template", "spec", "containers"}, "name");
}
JsonTree TemplateImagesCell(const JsonTree& o) {
  return MembersAt(o, {"template", "spec", "containers"}, "image");
}
JsonTree TemplateLabelsCell(const JsonTree& o) {
  return LabelsAt(o, {"template", "metadata", "labels"});
}

/// Returns the condition that the pod has ended.
std::string_view PodRowConditions(const JsonTree& pod) {
  const std::string phase = StringAt(pod, {"status", "phase"});
  if (phase == "Succeeded") {
    return R"([{"type":"Completed","status":"True","reason":"Succeeded","message":"The pod has completed successfully."}])";
  }
  return phase == "Failed"
             ? R"([{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}])"
             : "";
}

constexpr Column kPodColumns[] = {kNameColumn,
                                  {"Ready", "string", PodReadyCell},
                                  {"Status", "string", PodStatusCell},
                                  {"Restarts", "string", RestartsCell},
                                  kAgeColumn,
                                  {"IP", "string", PodIpCell, 1},
                                  {"Node", "string", PodNodeCell, 1},
                                  {"Nominated Node", "string", NominatedCell, 1},
                                  {"Readiness Gates", "string", GatesCell, 1}};
constexpr Column kTemplateColumns[] = {kNameColumn,
                                       {"Containers", "string", TemplateContainersCell},
                                       {"Images", "string", TemplateImagesCell},
                                       {"Pod Labels", "string", TemplateLabelsCell}};

}  // namespace

constexpr ColumnTable kPodTable{.columns = kPodColumns, .row_conditions = PodRowConditions};
constexpr ColumnTable kPodTemplateTable{.columns = kTemplateColumns};

}  // namespace kubexx::apiserver
