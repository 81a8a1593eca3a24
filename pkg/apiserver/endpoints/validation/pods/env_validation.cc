#include "kubexx/apiserver/endpoints/validation/pods/env_validation.h"

#include <algorithm>
#include <array>
#include <string>

#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kFields =
    "metadata.name|metadata.namespace|metadata.uid|spec.nodeName|spec.serviceAccountName"
    "|status.hostIP|status.hostIPs|status.podIP|status.podIPs";
/// The fields that a fieldRef may name in at least one place.
constexpr std::string_view kAnyField =
    "metadata.annotations|metadata.labels|metadata.name|metadata.namespace|metadata.uid"
    "|spec.nodeName|spec.restartPolicy|spec.serviceAccountName|spec.schedulerName|status.phase"
    "|status.hostIP|status.hostIPs|status.podIP|status.podIPs|spec.host";
constexpr std::string_view kResources =
    "limits.cpu|limits.ephemeral-storage|limits.memory|requests.cpu|requests.ephemeral-storage"
    "|requests.memory";
constexpr std::string_view kDivisors = "1|1k|1M|1G|1T|1P|1E|1Ki|1Mi|1Gi|1Ti|1Pi|1Ei";

/// The name has to consist of printable ASCII without "=".
void CheckVariableName(std::string_view name, const std::string& field, FieldCauses& causes) {
  if (!std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) {
    causes.Invalid(field, QuotedJson(name), "must be of printable ASCII characters other than '='");
  }
}

void CheckKeyReference(const JsonTree& reference, const FieldPath& path, FieldCauses& causes) {
  CheckDnsSubdomain(reference.TextAt("name"), path.Of("name"), causes);
  if (NeedText(reference, "key", path, causes)) {
    CheckConfigKey(reference.TextAt("key"), path.Of("key"), causes);
  }
}

/// Checks a variable from a file in a volume.
void CheckFileReference(const JsonTree& reference, const FieldPath& path, FieldCauses& causes) {
  if (NeedText(reference, "key", path, causes)) {
    CheckVariableName(reference.TextAt("key"), path.Of("key"), causes);
  }
  if (NeedText(reference, "volumeName", path, causes)) {
    CheckDnsLabelAt(reference, "volumeName", path, causes);
  }
  if (NeedText(reference, "path", path, causes)) {
    CheckNoBacksteps(reference.TextAt("path"), path.Of("path"), causes);
  }
}

void CheckValueFrom(const JsonTree& from, std::string_view value, const FieldPath& path,
                    FieldCauses& causes) {
  int sources = 0;
  const auto of = [&](std::string_view member, const auto& check) {
    IfGiven(from, member, path, [&](const JsonTree& reference, const FieldPath& here) {
      ++sources;
      check(reference, here);
    });
  };
  const auto key = [&causes](const JsonTree& reference, const FieldPath& here) {
    CheckKeyReference(reference, here, causes);
  };
  of("fieldRef", [&causes](const JsonTree& reference, const FieldPath& here) {
    CheckFieldReference(reference, kFields, here, causes);
  });
  of("resourceFieldRef", [&causes](const JsonTree& reference, const FieldPath& here) {
    CheckResourceReference(reference, /*of_volume=*/false, here, causes);
  });
  of("configMapKeyRef", key);
  of("secretKeyRef", key);
  of("fileKeyRef", [&causes](const JsonTree& reference, const FieldPath& here) {
    CheckFileReference(reference, here, causes);
  });
  const std::string_view why =
      sources == 0     ? "must specify one of: `fieldRef`, `resourceFieldRef`, "
                         "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
      : !value.empty() ? "may not be specified when `value` is not empty"
      : sources > 1    ? "may not have more than one field specified at a time"
                       : "";
  if (!why.empty()) {
    causes.Invalid(path.Text(), QuotedJson(""), why);
  }
}

/// Checks a source of all variables of a ConfigMap or a Secret. If it names neither, the fault is
/// reported for the list.
void CheckEnvSource(const JsonTree& source, const std::string& list, const FieldPath& path,
                    FieldCauses& causes) {
  if (const std::string_view prefix = source.TextAt("prefix"); !prefix.empty()) {
    CheckVariableName(prefix, path.Of("prefix"), causes);
  }
  int sources = 0;
  for (const std::string_view kind : {"configMapRef", "secretRef"}) {
    IfGiven(source, kind, path, [&](const JsonTree& reference, const FieldPath& here) {
      ++sources;
      // A suffix would not matter: only the beginning of the name is checked, as for a prefix.
      if (const std::string_view name = reference.TextAt("name");
          NeedText(reference, "name", here, causes)) {
        CheckDnsSubdomain(name.ends_with('-') ? std::string(name) + "a" : std::string(name),
                          here.Of("name"), causes);
      }
    });
  }
  if (sources != 1) {
    causes.Invalid(list, QuotedJson(""),
                   sources == 0 ? "must specify one of: `configMapRef` or `secretRef`"
                                : "may not have more than one field specified at a time");
  }
}

}  // namespace

void CheckFieldReference(const JsonTree& reference, std::string_view fields, const FieldPath& path,
                         FieldCauses& causes) {
  if (!NeedText(reference, "apiVersion", path, causes) ||
      !NeedText(reference, "fieldPath", path, causes)) {
    return;
  }
  const std::string_view name = reference.TextAt("fieldPath");
  const std::size_t open = name.find("['");
  const bool subscripted = open != std::string_view::npos && open > 0 && name.ends_with("']");
  const std::string_view field = subscripted ? name.substr(0, open) : name;
  const bool is_map = field == "metadata.labels" || field == "metadata.annotations";
  if (reference.TextAt("apiVersion") != "v1" || !IsAmong(field, kAnyField) ||
      (subscripted && !is_map)) {
    causes.Invalid(path.Of("fieldPath"), QuotedJson(name), "is no field that can be referred to");
  } else if (subscripted) {
    const std::string key(name.substr(open + 2, name.size() - open - 4));
    CheckLabelKey(field == "metadata.labels" ? key : base::ToLower(key), path.Text(), causes);
  } else if (!IsAmong(field, fields)) {
    AddNotSupported(field, fields, path.Of("fieldPath"), causes);
  }
}

void CheckResourceReference(const JsonTree& reference, bool of_volume, const FieldPath& path,
                            FieldCauses& causes) {
  const std::string_view resource = reference.TextAt("resource");
  const bool pages =
      resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
  if (of_volume && reference.TextAt("containerName").empty()) {
    causes.Required(path.Of("containerName"));
  } else if (resource.empty()) {
    causes.Required(path.Of("resource"));
  } else if (!pages && !IsAmong(resource, kResources)) {
    AddNotSupported(resource, kResources, path.Of("resource"), causes);
  }
  const std::string_view divisor = reference.TextAt("divisor");
  if (divisor.empty() || divisor == "0" || (!pages && !IsAmong(resource, kResources))) {
    return;
  }
  const bool of_cpu = resource.ends_with(".cpu");
  if (!IsAmong(divisor, of_cpu ? std::string_view("1m|1") : kDivisors)) {
    causes.Invalid(path.Of("divisor"), QuotedJson(resource),
                   of_cpu ? "only divisor's values 1m and 1 are supported with the cpu resource"
                          : "only 1 of a unit is supported as a divisor");
  }
}

void CheckVariables(const JsonTree& container, const FieldPath& path, FieldCauses& causes) {
  ForEachOf(container, "env", path, [&](const JsonTree& variable, const FieldPath& here) {
    if (NeedText(variable, "name", here, causes)) {
      const std::string_view name = variable.TextAt("name");
      if (!std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) {
        CheckVariableName(name, here.Of("name"), causes);
      }
    }
    IfGiven(variable, "valueFrom", here, [&](const JsonTree& from, const FieldPath& at) {
      CheckValueFrom(from, variable.TextAt("value"), at, causes);
    });
  });
  if (!ListAt(container, "envFrom").empty()) {
    const std::string list = path.Of("envFrom");
    ForEachOf(container, "envFrom", path, [&](const JsonTree& source, const FieldPath& here) {
      CheckEnvSource(source, list, here, causes);
    });
  }
}

}  // namespace kubexx::apiserver
