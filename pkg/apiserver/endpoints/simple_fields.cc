#include "kubexx/apiserver/endpoints/simple_fields.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kubexx/base/function_ref.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// A field with few values. In paths "[]" is every element.
struct ChosenField {
  std::string_view of;  ///< a resource, "pod" for every spec of a pod, "container" for containers
  std::string_view path;
  std::string_view values;  ///< with "|" between them
};

constexpr ChosenField kChosen[] = {
    {"pod", "restartPolicy", "Always|OnFailure|Never"},
    {"pod", "dnsPolicy", "ClusterFirstWithHostNet|ClusterFirst|Default|None"},
    {"pod", "tolerations[].effect", "NoSchedule|PreferNoSchedule|NoExecute"},
    {"container", "imagePullPolicy", "Always|IfNotPresent|Never"},
    {"container", "terminationMessagePolicy", "File|FallbackToLogsOnError"},
    {"container", "ports[].protocol", "TCP|UDP|SCTP"},
    {"jobs.batch", "spec.completionMode", "NonIndexed|Indexed"},
    {"jobs.batch", "spec.podReplacementPolicy", "Failed|TerminatingOrFailed"},
    {"cronjobs.batch", "spec.concurrencyPolicy", "Allow|Forbid|Replace"},
    {"poddisruptionbudgets.policy", "spec.unhealthyPodEvictionPolicy",
     "AlwaysAllow|IfHealthyBudget"},
    {"networkpolicies.networking.k8s.io", "spec.policyTypes[]", "Ingress|Egress"},
    {"networkpolicies.networking.k8s.io", "spec.ingress[].ports[].protocol", "TCP|UDP|SCTP"},
    {"networkpolicies.networking.k8s.io", "spec.egress[].ports[].protocol", "TCP|UDP|SCTP"},
    {"ingresses.networking.k8s.io", "spec.rules[].http.paths[].pathType",
     "Exact|Prefix|ImplementationSpecific"},
};

/// A number with limits.
struct LimitedField {
  std::string_view of;
  std::string_view path;
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLastPort = 65535;

constexpr LimitedField kLimited[] = {
    {"pod", "activeDeadlineSeconds", 1, kMaxInt},
    {"pod", "securityContext.runAsUser", 0, kMaxInt},
    {"pod", "securityContext.runAsGroup", 0, kMaxInt},
    {"pod", "securityContext.fsGroup", 0, kMaxInt},
    {"container", "securityContext.runAsUser", 0, kMaxInt},
    {"container", "securityContext.runAsGroup", 0, kMaxInt},
    {"container", "ports[].containerPort", 1, kLastPort},
    {"container", "ports[].hostPort", 0, kLastPort},
    {"jobs.batch", "spec.parallelism"},
    {"jobs.batch", "spec.completions"},
    {"jobs.batch", "spec.backoffLimit"},
    {"jobs.batch", "spec.activeDeadlineSeconds"},
    {"jobs.batch", "spec.ttlSecondsAfterFinished"},
    {"cronjobs.batch", "spec.startingDeadlineSeconds"},
    {"cronjobs.batch", "spec.successfulJobsHistoryLimit"},
    {"cronjobs.batch", "spec.failedJobsHistoryLimit"},
    {"networkpolicies.networking.k8s.io", "spec.ingress[].ports[].port", 1, kLastPort},
    {"networkpolicies.networking.k8s.io", "spec.egress[].ports[].port", 1, kLastPort},
};
constexpr std::string_view kProbeNumbers[] = {"initialDelaySeconds", "timeoutSeconds",
                                              "periodSeconds", "successThreshold",
                                              "failureThreshold"};

/// Calls `check` with every value at `pattern` that there is, and with its path.
void ForEachAt(const JsonTree& object, const std::string& path, std::string_view pattern,
               base::FunctionRef<void(const JsonTree& value, const std::string& field)> check) {
  if (pattern.empty()) {
    check(object, path);
    return;
  }
  const std::size_t end = std::min(pattern.find_first_of(".["), pattern.size());
  const JsonTree* const found = object.Find(pattern.substr(0, end));
  if (found == nullptr || found->IsNull()) {
    return;
  }
  const std::string here = (path.empty() ? "" : path + ".").append(pattern.substr(0, end));
  const bool is_list = pattern.substr(end).starts_with("[]");
  std::string_view rest = pattern.substr(end + (is_list ? 2 : 0));
  rest.remove_prefix(rest.starts_with('.') ? 1 : 0);
  if (!is_list) {
    ForEachAt(*found, here, rest, check);
    return;
  }
  for (std::size_t i = 0; i < found->elements().size(); ++i) {
    ForEachAt(found->elements()[i], here + "[" + std::to_string(i) + "]", rest, check);
  }
}

bool IsChoice(std::string_view value, std::string_view values) {
  while (!values.empty()) {
    const std::size_t end = std::min(values.find('|'), values.size());
    if (values.substr(0, end) == value) {
      return true;
    }
    values.remove_prefix(std::min(end + 1, values.size()));
  }
  return false;
}

/// As JSON, without brackets.
std::string ChoicesOf(std::string_view values) {
  std::string list = "\"";
  for (const char c : values) {
    list += c == '|' ? std::string("\", \"") : std::string(1, c);
  }
  return list + "\"";
}

void CheckLimits(const JsonTree& value, const std::string& field, const LimitedField& limits,
                 FieldCauses& causes) {
  const auto number = value.AsInt();
  if (!number || (*number >= limits.least && *number <= limits.most)) {
    return;
  }
  const bool below = *number < limits.least;
  causes.Invalid(field, value.ToJson(),
                 std::string("must be ") + (below ? "at least " : "at most ") +
                     std::to_string(below ? limits.least : limits.most));
}

void CheckRows(std::string_view of, const JsonTree& object, const std::string& path,
               FieldCauses& causes) {
  for (const ChosenField& one : kChosen) {
    if (one.of == of) {
      ForEachAt(object, path, one.path, [&](const JsonTree& value, const std::string& field) {
        const std::string* const text = value.AsString();
        if (text != nullptr && !text->empty() && !IsChoice(*text, one.values)) {
          causes.NotSupported(field, value.ToJson(), ChoicesOf(one.values));
        }
      });
    }
  }
  for (const LimitedField& one : kLimited) {
    if (one.of == of) {
      ForEachAt(object, path, one.path, [&](const JsonTree& value, const std::string& field) {
        CheckLimits(value, field, one, causes);
      });
    }
  }
}

void CheckProbes(const JsonTree& container, const std::string& path, FieldCauses& causes) {
  for (const char* const probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    for (const std::string_view number : kProbeNumbers) {
      const std::string pattern = std::string(probe) + "." + std::string(number);
      ForEachAt(container, path, pattern, [&](const JsonTree& value, const std::string& field) {
        CheckLimits(value, field, {}, causes);
      });
    }
  }
}

}  // namespace

void CheckSimpleFields(std::string_view resource, const JsonTree& object, FieldCauses& causes) {
  CheckRows(resource, object, "", causes);
}

void CheckSimplePodFields(const JsonTree& pod_spec, const std::string& path, FieldCauses& causes) {
  CheckRows("pod", pod_spec, path, causes);
  for (const char* const list : {"initContainers[]", "containers[]"}) {
    ForEachAt(pod_spec, path, list, [&](const JsonTree& container, const std::string& field) {
      CheckRows("container", container, field, causes);
      CheckProbes(container, field, causes);
    });
  }
}

}  // namespace kubexx::apiserver
