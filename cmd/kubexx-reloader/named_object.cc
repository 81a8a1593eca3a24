#include "named_object.h"

#include <algorithm>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/reloader/kinds/source_kind.h"
#include "kubexx/reloadpolicy/clusterreloadpolicy_v1alpha1.gen.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"
#include "subcommand.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::ResourceInfo;
using apimachinery::Result;
using reloader::OtherResources;
using reloader::WorkloadKind;

/// As kubectl shortens them.
constexpr std::pair<std::string_view, std::string_view> kShortNames[] = {
    {"deploy", "deployment"}, {"ds", "daemonset"},     {"sts", "statefulset"},
    {"cj", "cronjob"},        {"ro", "rollout"},       {"dc", "deploymentconfig"},
    {"cm", "configmap"},      {"rlp", "reloadpolicy"}, {"crlp", "clusterreloadpolicy"},
};

/// How a kind is called: in small letters, and in full.
struct WantedKind {
  std::string name{};
  /// What follows the first dot, as in `deployment.apps` and `deployments.v1.apps`; else empty.
  std::string group{};
};

WantedKind InFull(std::string_view text) {
  const std::size_t dot = text.find('.');
  WantedKind wanted{base::ToLower(text.substr(0, dot)),
                    dot == std::string_view::npos ? "" : base::ToLower(text.substr(dot + 1))};
  for (const auto& [name, kind] : kShortNames) {
    if (wanted.name == name) {
      wanted.name = kind;
    }
  }
  return wanted;
}

/// As kubectl takes it: KIND, KIND.GROUP (which `kubectl get -o name` prints) or
/// KIND.VERSION.GROUP.
bool Fits(const ResourceInfo& resource, const WantedKind& wanted) {
  return (wanted.name == base::ToLower(resource.kind) || wanted.name == resource.plural) &&
         (wanted.group.empty() || wanted.group == resource.group ||
          wanted.group == std::string(resource.version) + "." + std::string(resource.group));
}

apimachinery::Status WrongUsage(const std::string& what) {
  return {Reason::kInvalidConfig, what + "; give KIND/NAME or KIND NAME"};
}

/// KIND and NAME.
Result<std::pair<std::string, std::string>> TwoWords(std::vector<std::string> words,
                                                     const std::string& what) {
  if (words.size() == 1) {
    const std::size_t slash = words[0].find('/');
    if (slash == std::string::npos) {
      return Fail(WrongUsage("\"" + words[0] + "\" names no " + what));
    }
    words = {words[0].substr(0, slash), words[0].substr(slash + 1)};
  }
  if (words.size() != 2 || words[1].empty()) {
    return Fail(WrongUsage("one " + what + " is needed"));
  }
  return std::pair(std::move(words[0]), std::move(words[1]));
}

}  // namespace

bool IsCalled(const ResourceInfo& resource, std::string_view text) {
  return Fits(resource, InFull(text));
}

std::optional<WorkloadKind> WorkloadKindNamed(std::string_view text) {
  const WantedKind wanted = InFull(text);
  for (const WorkloadKind kind : reloader::AllWorkloadKinds()) {
    if (Fits(reloader::ResourceOf(kind), wanted)) {
      return kind;
    }
  }
  return std::nullopt;
}

const ResourceInfo* ResourceNamed(std::string_view text) {
  if (const auto kind = WorkloadKindNamed(text)) {
    return &reloader::ResourceOf(*kind);
  }
  const WantedKind wanted = InFull(text);
  const auto found = std::ranges::find_if(
      OtherResources(), [&](const ResourceInfo* each) { return Fits(*each, wanted); });
  if (found != OtherResources().end()) {
    return *found;
  }
  const auto& described = reloader::SourceResources();  // others may add some meanwhile
  const auto source =
      std::ranges::find_if(described, [&](const ResourceInfo& each) { return Fits(each, wanted); });
  return source == described.end() ? nullptr : &*source;
}

bool Includes(NamedKinds kinds, const ResourceInfo& resource) {
  const bool is_policy = resource.kind == reloadpolicy::v1alpha1::kReloadPolicyResource.kind ||
                         resource.kind == reloadpolicy::v1alpha1::kClusterReloadPolicyResource.kind;
  return kinds == NamedKinds::kAll || reloader::ParseWorkloadKind(resource.kind).has_value() ||
         (kinds == NamedKinds::kWorkloadsAndSources && !is_policy);
}

std::vector<std::string> KindNames(NamedKinds kinds) {
  std::vector<std::string> names;
  for (const WorkloadKind kind : reloader::AllWorkloadKinds()) {
    names.push_back(base::ToLower(reloader::KindName(kind)));
  }
  for (const ResourceInfo* each : OtherResources()) {
    if (Includes(kinds, *each)) {
      names.push_back(base::ToLower(each->kind));
    }
  }
  if (kinds != NamedKinds::kWorkloads) {
    for (const ResourceInfo& each : reloader::SourceResources()) {
      names.push_back(base::ToLower(each.kind));
    }
  }
  return names;
}

Result<NamedObject> ObjectNamed(const std::vector<std::string>& arguments) {
  KX_ASSIGN_OR_RETURN(auto words, TwoWords(arguments, "object"));
  const ResourceInfo* resource = ResourceNamed(words.first);
  if (resource == nullptr) {
    return Fail(WrongUsage("\"" + words.first + "\" is not a kind of workload, source or policy"));
  }
  return NamedObject{resource, std::move(words.second)};
}

Result<reloader::WorkloadId> NamedWorkload(const std::vector<std::string>& arguments) {
  KX_ASSIGN_OR_RETURN(auto words, TwoWords(arguments, "workload"));
  const auto kind = WorkloadKindNamed(words.first);
  if (!kind && ResourceNamed(words.first) != nullptr) {
    return Fail(Reason::kInvalidConfig,
                "\"" + words.first +
                    "\" is not a kind of workload, and this is about workloads; `" +
                    std::string(ProgramName()) + " history " + words.first + "/" + words.second +
                    "` names those that were rolled for a source");
  }
  if (!kind) {
    return Fail(WrongUsage("\"" + words.first + "\" is not a kind of workload"));
  }
  return reloader::WorkloadId{*kind, {"", std::move(words.second)}};
}

}  // namespace kubexx
