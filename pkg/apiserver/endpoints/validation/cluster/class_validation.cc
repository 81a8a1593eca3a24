#include "kubexx/apiserver/endpoints/validation/cluster/class_validation.h"

#include <set>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/resource_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/scheduling_validation.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxParameters = 512;
constexpr std::size_t kMaxParameterBytes = 256 << 10;
constexpr std::int64_t kMaxPriority = 1'000'000'000;
constexpr std::int64_t kShortestDriverToken = 600;
constexpr std::int64_t kLongestDriverToken = std::int64_t{1} << 32U;
constexpr std::string_view kSystemClasses = "system-node-critical|system-cluster-critical";

void CheckParameters(const JsonTree& object, FieldCauses& causes) {
  const JsonTree* const parameters = GivenAt(object, "parameters");
  if (parameters == nullptr) {
    return;
  }
  std::size_t bytes = 0;
  for (const JsonTree::Member& one : parameters->members()) {
    bytes += one.key.size() + (one.value.AsString() == nullptr ? 0 : one.value.AsString()->size());
    if (one.key.empty()) {
      causes.Invalid("parameters", QuotedJson(""), "field can not be empty.");
    }
  }
  if (parameters->size() > kMaxParameters) {
    causes.TooLong("parameters", kMaxParameters);
  } else if (bytes > kMaxParameterBytes) {
    causes.TooLong("parameters", kMaxParameterBytes);
  }
}

void CheckTopology(const JsonTree& term, const FieldPath& path, FieldCauses& causes) {
  std::set<std::string_view> keys;
  ForEachOf(term, "matchLabelExpressions", path, [&](const JsonTree& one, const FieldPath& here) {
    const std::string_view key = one.TextAt("key");
    CheckLabelKey(key, here.Of("key"), causes);
    if (!keys.insert(key).second) {
      causes.Duplicate(here.Of("key"), QuotedJson(key));
    }
    if (ListAt(one, "values").empty()) {
      causes.Required(here.Of("values"));
    }
    std::set<std::string> values;
    ForEachOf(one, "values", here, [&](const JsonTree& value, const FieldPath& at) {
      if (!values.insert(value.ToJson()).second) {
        causes.Duplicate(at.Text(), value.ToJson());
      }
    });
  });
}

}  // namespace

void CheckStorageClass(const JsonTree& object, FieldCauses& causes) {
  const FieldPath at("");
  if (NeedText(object, "provisioner", at, causes)) {
    CheckLabelKey(base::ToLower(object.TextAt("provisioner")), "provisioner", causes);
  }
  CheckParameters(object, causes);
  if (!object.TextAt("reclaimPolicy").empty()) {
    CheckChoice(object, "reclaimPolicy", "Delete|Retain", at, causes);
  }
  CheckChoice(object, "volumeBindingMode", "Immediate|WaitForFirstConsumer", at, causes);
  ForEachOf(object, "allowedTopologies", at, [&](const JsonTree& term, const FieldPath& here) {
    CheckTopology(term, here, causes);
  });
}

void CheckPriorityClass(const JsonTree& object, FieldCauses& causes) {
  const std::string name = MetaString(object, "name");
  if (name.starts_with("system-")) {
    if (!IsAmong(name, kSystemClasses)) {
      causes.Forbidden("metadata.name",
                       "names with the prefix 'system-' are those of the system's own classes");
    }
  } else if (IntAt(object, "value").value_or(0) > kMaxPriority) {
    causes.Forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
  }
  if (!object.TextAt("preemptionPolicy").empty()) {
    CheckChoice(object, "preemptionPolicy", "PreemptLowerPriority|Never", FieldPath(""), causes);
  }
}

void CheckPriorityChange(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  if (!SameMember(current.Find("value"), object.Find("value"))) {
    causes.Forbidden("value", "may not be changed in an update.");
  }
}

void CheckRuntimeClass(const JsonTree& object, FieldCauses& causes) {
  const FieldPath at("");
  if (NeedText(object, "handler", at, causes)) {
    CheckDnsLabelAt(object, "handler", at, causes);
  }
  if (const JsonTree* const fixed = object.At({"overhead", "podFixed"})) {
    const FieldPath limits = at.Member("overhead.limits");
    for (const JsonTree::Member& one : fixed->members()) {
      CheckLimitedResource(one.key, /*of_containers=*/true, limits.Key(one.key), causes);
      if (one.value.AsString() != nullptr && one.value.AsString()->starts_with('-')) {
        causes.Invalid(limits.Key(one.key), one.value.ToJson(),
                       "must be greater than or equal to 0");
      }
    }
  }
  IfGiven(object, "scheduling", at, [&](const JsonTree& scheduling, const FieldPath& here) {
    CheckLabelMap(scheduling.Find("nodeSelector"), here.Of("nodeSelector"), causes);
    CheckTolerations(scheduling, here, causes);
    std::set<std::string> seen;
    ForEachOf(scheduling, "tolerations", here, [&](const JsonTree& one, const FieldPath& of_one) {
      if (!seen.insert(one.ToJson()).second) {
        causes.Duplicate(of_one.Text(), one.ToJson());
      }
    });
  });
}

void CheckDriver(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  for (const JsonTree& mode : ListAt(spec, "volumeLifecycleModes")) {
    if (mode.AsString() != nullptr && !IsAmong(*mode.AsString(), "Ephemeral|Persistent")) {
      AddNotSupported(*mode.AsString(), "Persistent|Ephemeral", at.Of("volumeLifecycleModes"),
                      causes);
    }
  }
  CheckChoice(spec, "fsGroupPolicy", "File|None|ReadWriteOnceWithFSType", at, causes);
  std::set<std::string_view> audiences;
  ForEachOf(spec, "tokenRequests", at, [&](const JsonTree& request, const FieldPath& here) {
    const std::string_view audience = request.TextAt("audience");
    if (!audiences.insert(audience).second) {
      causes.Duplicate(here.Of("audience"), QuotedJson(audience));
    }
    const auto seconds = IntAt(request, "expirationSeconds");
    if (seconds && *seconds < kShortestDriverToken) {
      causes.Invalid(here.Of("expirationSeconds"), std::to_string(*seconds),
                     "may not specify a duration less than 10 minutes");
    } else if (seconds && *seconds > kLongestDriverToken) {
      causes.Invalid(here.Of("expirationSeconds"), std::to_string(*seconds),
                     "may not specify a duration larger than 2^32 seconds");
    }
  });
}

}  // namespace kubexx::apiserver
