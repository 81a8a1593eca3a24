#include "kubexx/apiserver/endpoints/validation/pods/container_validation.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/env_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/probe_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/security_validation.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using Names = std::set<std::string_view>;

constexpr std::size_t kMaxRestartRules = 20;
constexpr std::size_t kMaxExitCodes = 255;
constexpr std::int64_t kLastPort = 65535;
constexpr std::int64_t kGraceSecondsOfPods = 30;

/// The properties of the pod that its containers depend on.
struct PodContext {
  const PodVolumes& volumes;
  std::int64_t grace_seconds;
  std::string_view restart_policy;
  bool host_users;
};

void CheckPorts(const JsonTree& container, const FieldPath& path, FieldCauses& causes) {
  Names names;
  ForEachOf(container, "ports", path, [&](const JsonTree& port, const FieldPath& here) {
    if (const std::string_view name = port.TextAt("name"); !name.empty()) {
      const std::size_t before = causes.kept().size();
      CheckPortName(name, here.Of("name"), causes);
      if (causes.kept().size() == before && !names.insert(name).second) {
        causes.Duplicate(here.Of("name"), QuotedJson(name));
      }
    }
    if (const std::int64_t number = IntAt(port, "containerPort").value_or(0); number == 0) {
      causes.Required(here.Of("containerPort"));
    } else {
      CheckRange(port, "containerPort", 1, kLastPort, here, causes);
    }
    if (IntAt(port, "hostPort").value_or(0) != 0) {
      CheckRange(port, "hostPort", 1, kLastPort, here, causes);
    }
    CheckChoice(port, "protocol", "SCTP|TCP|UDP", here, causes);
  });
}

/// Finds node ports that two of the containers would have.
class HostPorts {
 public:
  void Check(const JsonTree& container, const FieldPath& path, FieldCauses& causes) {
    ForEachOf(container, "ports", path, [&](const JsonTree& port, const FieldPath& here) {
      const std::int64_t number = IntAt(port, "hostPort").value_or(0);
      if (number == 0) {
        return;
      }
      std::string key(port.TextAt("protocol"));
      key.append("/").append(port.TextAt("hostIP")).append("/").append(std::to_string(number));
      if (!taken_.insert(key).second) {
        causes.Duplicate(here.Of("hostPort"), QuotedJson(key));
      }
    });
  }

 private:
  std::set<std::string> taken_{};
};

/// kube-apiserver reports a fault of one policy for the whole list.
void CheckResizePolicy(const JsonTree& container, const PodContext& pod, const FieldPath& path,
                       FieldCauses& causes) {
  Names resources;
  const FieldPath list = path.Member("resizePolicy");
  ForEachOf(container, "resizePolicy", path, [&](const JsonTree& one, const FieldPath& here) {
    const std::string_view resource = one.TextAt("resourceName");
    const std::string_view policy = one.TextAt("restartPolicy");
    if (!resources.insert(resource).second) {
      causes.Duplicate(here.Text(), QuotedJson(resource));
    }
    for (const auto& [value, values] :
         {std::pair(resource, "cpu|memory"), std::pair(policy, "NotRequired|RestartContainer")}) {
      if (value.empty()) {
        causes.Required(list.Text());
      } else if (!IsAmong(value, values)) {
        AddNotSupported(value, values, list.Text(), causes);
      }
    }
    if (pod.restart_policy == "Never" && policy != "NotRequired") {
      causes.Invalid(list.Text(), QuotedJson(policy),
                     "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  });
}

void CheckRestartRules(const JsonTree& container, const FieldPath& path, FieldCauses& causes) {
  const std::span<const JsonTree> rules = ListAt(container, "restartPolicyRules");
  CheckChoice(container, "restartPolicy", "Always|Never|OnFailure", path, causes);
  if (!rules.empty() && GivenAt(container, "restartPolicy") == nullptr) {
    causes.Required(path.Of("restartPolicy"),
                    "must specify restartPolicy when restart rules are used");
  }
  if (rules.size() > kMaxRestartRules) {
    causes.TooMany(path.Of("restartPolicyRules"), rules.size(), kMaxRestartRules);
  }
  ForEachOf(
      container, "restartPolicyRules", path, [&](const JsonTree& rule, const FieldPath& here) {
        CheckChoice(rule, "action", "Restart|RestartAllContainers", here, causes);
        const JsonTree* const codes = GivenAt(rule, "exitCodes");
        if (codes == nullptr) {
          causes.Required(here.Of("exitCodes"), "must be specified");
          return;
        }
        const FieldPath at = here.Member("exitCodes");
        CheckChoice(*codes, "operator", "In|NotIn", at, causes);
        if (const std::size_t count = ListAt(*codes, "values").size(); count > kMaxExitCodes) {
          causes.TooMany(at.Of("values"), count, kMaxExitCodes);
        }
      });
}

/// Checks the fields that every kind of container has.
void CheckCommon(const JsonTree& container, const PodContext& pod, const FieldPath& path,
                 FieldCauses& causes) {
  if (NeedText(container, "name", path, causes)) {
    CheckDnsLabelAt(container, "name", path, causes);
  }
  NeedText(container, "image", path, causes);
  if (!container.TextAt("terminationMessagePolicy").empty()) {
    CheckChoice(container, "terminationMessagePolicy", "File|FallbackToLogsOnError", path, causes);
  }
  CheckPorts(container, path, causes);
  CheckVariables(container, path, causes);
  CheckMounts(container, pod.volumes, path, causes);
  if (!container.TextAt("imagePullPolicy").empty()) {
    CheckChoice(container, "imagePullPolicy", "Always|IfNotPresent|Never", path, causes);
  }
  CheckResizePolicy(container, pod, path, causes);
  IfGiven(container, "securityContext", path, [&](const JsonTree& context, const FieldPath& here) {
    CheckSecurityContext(context, pod.host_users, here, causes);
  });
}

/// Checks init containers. They have no probes, except for those that restart, which are sidecars.
void CheckBefore(const JsonTree& container, const PodContext& pod, const FieldPath& path,
                 FieldCauses& causes) {
  CheckCommon(container, pod, path, causes);
  CheckRestartRules(container, path, causes);
  HostPorts().Check(container, path, causes);
  if (container.TextAt("restartPolicy") == "Always") {
    CheckProbes(container, pod.grace_seconds, path, causes);
    return;
  }
  for (const std::string_view member :
       {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    if (GivenAt(container, member) != nullptr) {
      causes.Forbidden(path.Of(member),
                       "may not be set for init containers without restartPolicy=Always");
    }
  }
  ForEachOf(container, "resizePolicy", path, [&](const JsonTree& one, const FieldPath& here) {
    if (one.TextAt("restartPolicy") == "RestartContainer") {
      causes.Invalid(here.Of("restartPolicy"), QuotedJson("RestartContainer"),
                     "must not be set to 'RestartContainer' for non-sidecar initContainers");
    }
  });
}

/// Checks ephemeral containers, which are for looking into a running pod.
void CheckEphemeralContainer(const JsonTree& container, const PodContext& pod,
                             const FieldPath& path, FieldCauses& causes) {
  CheckCommon(container, pod, path, causes);
  for (const std::string_view member :
       {"lifecycle", "livenessProbe", "ports", "readinessProbe", "resizePolicy", "resources",
        "restartPolicy", "restartPolicyRules", "startupProbe"}) {
    if (const JsonTree* const found = GivenAt(container, member);
        found != nullptr && (found->AsString() != nullptr || found->size() > 0)) {
      causes.Forbidden(path.Of(member), "cannot be set for an Ephemeral Container");
    }
  }
  ForEachOf(container, "volumeMounts", path, [&](const JsonTree& mount, const FieldPath& here) {
    for (const std::string_view member : {"subPath", "subPathExpr"}) {
      if (!mount.TextAt(member).empty()) {
        causes.Forbidden(here.Of(member), "cannot be set for an Ephemeral Container");
      }
    }
  });
}

void AddName(const JsonTree& container, const FieldPath& path, Names& names, FieldCauses& causes) {
  if (const std::string_view name = container.TextAt("name");
      !name.empty() && !names.insert(name).second) {
    causes.Duplicate(path.Of("name"), QuotedJson(name));
  }
}

}  // namespace

void CheckContainers(const JsonTree& pod_spec, const PodVolumes& volumes, const FieldPath& path,
                     FieldCauses& causes) {
  const JsonTree* const users = GivenAt(pod_spec, "hostUsers");
  const PodContext pod{
      .volumes = volumes,
      .grace_seconds =
          IntAt(pod_spec, "terminationGracePeriodSeconds").value_or(kGraceSecondsOfPods),
      .restart_policy = pod_spec.TextAt("restartPolicy"),
      .host_users = users == nullptr || users->AsBool().value_or(true)};
  if (ListAt(pod_spec, "containers").empty()) {
    causes.Required(path.Of("containers"));
  }
  Names names;
  HostPorts ports;
  ForEachOf(pod_spec, "containers", path, [&](const JsonTree& container, const FieldPath& here) {
    CheckCommon(container, pod, here, causes);
    AddName(container, here, names, causes);
    CheckProbes(container, pod.grace_seconds, here, causes);
    CheckRestartRules(container, here, causes);
    ports.Check(container, here, causes);
  });
  ForEachOf(pod_spec, "initContainers", path,
            [&](const JsonTree& container, const FieldPath& here) {
              CheckBefore(container, pod, here, causes);
              AddName(container, here, names, causes);
            });
  const Names others = names;
  ForEachOf(pod_spec, "ephemeralContainers", path,
            [&](const JsonTree& container, const FieldPath& here) {
              CheckEphemeralContainer(container, pod, here, causes);
              AddName(container, here, names, causes);
              if (const std::string_view target = container.TextAt("targetContainerName");
                  !target.empty() && !others.contains(target)) {
                causes.NotFound(here.Of("targetContainerName"), QuotedJson(target),
                                "the pod has no such container");
              }
            });
}

}  // namespace kubexx::apiserver
