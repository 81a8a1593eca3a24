#include "kubexx/apiserver/endpoints/validation/pods/security_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxSysctlBytes = 253;
constexpr std::string_view kNotOfWindows = "cannot be set for a windows pod";

/// Checks a profile of seccomp or AppArmor, which may be in a file of the node.
void CheckProfile(const JsonTree& profile, bool of_seccomp, const FieldPath& path,
                  FieldCauses& causes) {
  const std::string_view type = profile.TextAt("type");
  const JsonTree* const file = GivenAt(profile, "localhostProfile");
  const std::string_view name = profile.TextAt("localhostProfile");
  if (type.empty()) {
    causes.Required(path.Of("type"));
    return;
  }
  if (!IsAmong(type, "Localhost|RuntimeDefault|Unconfined")) {
    AddNotSupported(type, "Localhost|RuntimeDefault|Unconfined", path.Of("type"), causes);
  }
  if (type != "Localhost") {
    if (file != nullptr && IsAmong(type, "RuntimeDefault|Unconfined")) {
      causes.Invalid(path.Of("localhostProfile"), file->ToJson(),
                     "can only be set when type is 'Localhost'");
    }
  } else if (file == nullptr || (!of_seccomp && name.empty())) {
    causes.Required(path.Of("localhostProfile"), "must be set when type is Localhost");
  } else if (of_seccomp) {
    CheckRelativePath(name, path.Of("localhostProfile"), causes);
  } else if (constexpr std::string_view kSpace = " \t\n\v\f\r";
             kSpace.contains(name.front()) || kSpace.contains(name.back())) {
    causes.Invalid(path.Of("localhostProfile"), file->ToJson(),
                   "must not be padded with whitespace");
  }
}

void CheckProfiles(const JsonTree& context, const FieldPath& path, FieldCauses& causes) {
  for (const std::string_view kind : {"seccompProfile", "appArmorProfile"}) {
    IfGiven(context, kind, path, [&](const JsonTree& profile, const FieldPath& here) {
      CheckProfile(profile, kind == "seccompProfile", here, causes);
    });
  }
}

void CheckWindowsOptions(const JsonTree& context, const FieldPath& path, FieldCauses& causes) {
  IfGiven(context, "windowsOptions", path, [&](const JsonTree& options, const FieldPath& here) {
    if (GivenAt(options, "gmsaCredentialSpecName") != nullptr) {
      CheckDnsSubdomain(options.TextAt("gmsaCredentialSpecName"), here.Of("gmsaCredentialSpecName"),
                        causes);
    }
    for (const std::string_view member : {"gmsaCredentialSpec", "runAsUserName"}) {
      if (GivenAt(options, member) != nullptr && options.TextAt(member).empty()) {
        causes.Invalid(here.Of(member), QuotedJson(""), "cannot be an empty string");
      }
    }
  });
}

bool IsSysctlPart(std::string_view part) {
  const auto inner = [](char c) { return base::IsLowerAlphanumeric(c) || c == '-' || c == '_'; };
  const auto edge = [&inner](char c) { return inner(c) && c != '-' && c != '_'; };
  return !part.empty() && edge(part.front()) && edge(part.back()) &&
         std::ranges::all_of(part, inner);
}

bool IsSysctl(std::string_view name) {
  if (name.size() > kMaxSysctlBytes) {
    return false;
  }
  for (;;) {
    const std::size_t end = std::min(name.find_first_of("./"), name.size());
    if (!IsSysctlPart(name.substr(0, end))) {
      return false;
    }
    if (end == name.size()) {
      return true;
    }
    name.remove_prefix(end + 1);
  }
}

void CheckSysctls(const JsonTree& context, const FieldPath& path, FieldCauses& causes) {
  std::set<std::string> names;
  ForEachOf(context, "sysctls", path, [&](const JsonTree& sysctl, const FieldPath& here) {
    std::string name(sysctl.TextAt("name"));
    if (name.empty()) {
      causes.Required(here.Of("name"));
      return;
    }
    if (!IsSysctl(name)) {
      causes.Invalid(here.Of("name"), QuotedJson(name), "is no name of a sysctl");
    }
    // Names whose first separator is a slash can be converted to the other form.
    if (const std::size_t first = name.find_first_of("./");
        first != std::string::npos && name[first] == '/') {
      std::ranges::for_each(name, [](char& c) { c = c == '.' ? '/' : c == '/' ? '.' : c; });
    }
    if (!names.insert(name).second) {
      causes.Duplicate(here.Of("name"), QuotedJson(name));
    }
  });
}

/// Whether the member is given. A boolean that is false counts as missing where the API has no
/// null.
bool IsSet(const JsonTree& object, std::string_view member) {
  return GivenAt(object, member) != nullptr;
}

void ForbidAll(const JsonTree& object, std::initializer_list<std::string_view> members,
               const FieldPath& path, FieldCauses& causes) {
  for (const std::string_view member : members) {
    if (IsSet(object, member)) {
      causes.Forbidden(path.Of(member), kNotOfWindows);
    }
  }
}

void CheckWindows(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  IfGiven(spec, "securityContext", path, [&](const JsonTree& context, const FieldPath& here) {
    ForbidAll(
        context,
        {"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy",
         "runAsUser", "runAsGroup", "supplementalGroupsPolicy", "seLinuxChangePolicy"},
        here, causes);
    for (const std::string_view list : {"sysctls", "supplementalGroups"}) {
      if (!ListAt(context, list).empty()) {
        causes.Forbidden(here.Of(list), kNotOfWindows);
      }
    }
  });
  ForbidAll(spec, {"hostUsers", "shareProcessNamespace"}, path, causes);
  for (const std::string_view shared : {"hostPID", "hostIPC"}) {
    if (IsTrueAt(spec, shared)) {
      causes.Forbidden(path.Of(shared), kNotOfWindows);
    }
  }
}

}  // namespace

void CheckSecurityContext(const JsonTree& context, bool host_users, const FieldPath& path,
                          FieldCauses& causes) {
  CheckRange(context, "runAsUser", 0, kMaxInt32, path, causes);
  CheckRange(context, "runAsGroup", 0, kMaxInt32, path, causes);
  CheckChoice(context, "procMount", "Default|Unmasked", path, causes);
  if (host_users && context.TextAt("procMount") == "Unmasked") {
    causes.Invalid(path.Of("procMount"), QuotedJson("Unmasked"),
                   "`hostUsers` must be false to use `Unmasked`");
  }
  CheckProfiles(context, path, causes);
  CheckWindowsOptions(context, path, causes);
  const JsonTree* const escalation = GivenAt(context, "allowPrivilegeEscalation");
  if (escalation == nullptr || escalation->AsBool().value_or(true)) {
    return;
  }
  if (IsTrueAt(context, "privileged")) {
    causes.Invalid(path.Text(), context.ToJson(),
                   "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  const JsonTree* const capabilities = GivenAt(context, "capabilities");
  for (const JsonTree& one :
       capabilities == nullptr ? std::span<const JsonTree>() : ListAt(*capabilities, "add")) {
    if (one.AsString() != nullptr && *one.AsString() == "CAP_SYS_ADMIN") {
      causes.Invalid(path.Text(), context.ToJson(),
                     "cannot set `allowPrivilegeEscalation` to false and add CAP_SYS_ADMIN");
      return;
    }
  }
}

void CheckPodSecurity(const JsonTree& pod_spec, const FieldPath& path, FieldCauses& causes) {
  const FieldPath at = path.Member("securityContext");
  if (IsTrueAt(pod_spec, "shareProcessNamespace") && IsTrueAt(pod_spec, "hostPID")) {
    causes.Invalid(at.Of("shareProcessNamespace"), "true",
                   "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  if (const JsonTree* const users = GivenAt(pod_spec, "hostUsers");
      users != nullptr && !users->AsBool().value_or(true)) {
    for (const auto& [shared, told] :
         {std::pair("hostNetwork", "hostNetwork"), std::pair("hostPID", "HostPID"),
          std::pair("hostIPC", "HostIPC")}) {
      if (IsTrueAt(pod_spec, shared)) {
        causes.Forbidden(path.Of(told), "when `hostUsers` is false");
      }
    }
  }
  const JsonTree* const context = GivenAt(pod_spec, "securityContext");
  if (context == nullptr) {
    return;
  }
  for (const std::string_view id : {"runAsUser", "runAsGroup", "fsGroup"}) {
    CheckRange(*context, id, 0, kMaxInt32, at, causes);
  }
  ForEachOf(*context, "supplementalGroups", at, [&](const JsonTree& group, const FieldPath& here) {
    if (const std::int64_t id = group.AsInt().value_or(0); id < 0 || id > kMaxInt32) {
      causes.Invalid(here.Text(), std::to_string(id),
                     "must be between 0 and 2147483647, inclusive");
    }
  });
  CheckChoice(*context, "fsGroupChangePolicy", "Always|OnRootMismatch", at, causes);
  CheckChoice(*context, "supplementalGroupsPolicy", "Merge|Strict", at, causes);
  CheckChoice(*context, "seLinuxChangePolicy", "MountOption|Recursive", at, causes);
  CheckSysctls(*context, at, causes);
  CheckProfiles(*context, at, causes);
  CheckWindowsOptions(*context, at, causes);
}

void CheckSystem(const JsonTree& pod_spec, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const system = GivenAt(pod_spec, "os");
  if (system == nullptr) {
    return;
  }
  const std::string_view name = system->TextAt("name");
  if (name.empty()) {
    causes.Required(path.Of("os.name"));
    return;
  }
  const bool windows = name == "windows";
  if (!windows && name != "linux") {
    AddNotSupported(name, "linux|windows", path.Of("os"), causes);
    return;
  }
  if (windows) {
    CheckWindows(pod_spec, path, causes);
  } else if (const JsonTree* const context = GivenAt(pod_spec, "securityContext");
             context != nullptr && IsSet(*context, "windowsOptions")) {
    causes.Forbidden(path.Of("securityContext.windowsOptions"),
                     "windows options cannot be set for a linux pod");
  }
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    ForEachOf(pod_spec, list, path, [&](const JsonTree& container, const FieldPath& here) {
      IfGiven(container, "securityContext", here, [&](const JsonTree& one, const FieldPath& at) {
        if (windows) {
          ForbidAll(one,
                    {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
                     "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation",
                     "procMount", "runAsUser", "runAsGroup"},
                    at, causes);
        } else if (IsSet(one, "windowsOptions")) {
          causes.Forbidden(at.Of("windowsOptions"),
                           "windows options cannot be set for a linux pod");
        }
      });
    });
  }
}

}  // namespace kubexx::apiserver
