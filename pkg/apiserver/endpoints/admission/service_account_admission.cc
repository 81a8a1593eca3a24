#include "kubexx/apiserver/endpoints/admission/service_account_admission.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

constexpr std::string_view kDefaultAccount = "default";
constexpr std::string_view kVolumePrefix = "kube-api-access-";
constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr std::string_view kEnforceAnnotation = "kubernetes.io/enforce-mountable-secrets";
/// The account "default" is created soon after its namespace.
constexpr int kAttempts = 10;
constexpr std::chrono::milliseconds kBetweenAttempts{150};

/// The default lifetime of an account's token and seven more seconds. By this number kube-apiserver
/// knows that nobody has asked for this token.
constexpr std::string_view kTokenSource =
    R"({"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
    R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},)"
    R"({"downwardAPI":{"items":[{"path":"namespace",)"
    R"("fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420})";

Status Refused(const Call& call, const JsonTree& pod, const std::string& why) {
  const std::string name = MetaString(pod, "name");
  return Forbidden(*call.type, name.empty() ? MetaString(pod, "generateName") : name, why);
}

bool IsMirror(const JsonTree& pod) {
  return MetaMap(pod, "annotations").contains(std::string(kMirrorAnnotation));
}

/// Returns the name of the account. A config that is applied has no defaults yet, so the name may
/// be in the deprecated field.
std::string AccountOf(const JsonTree& pod) {
  const std::string name = StringAt(pod, {"spec", "serviceAccountName"});
  return name.empty() ? StringAt(pod, {"spec", "serviceAccount"}) : name;
}

/// Returns nothing when the account does not exist.
Result<std::optional<JsonTree>> FindAccount(const Call& call, const std::string& name) {
  const ResourceTypeRef type = call.types.Find("", "v1", "serviceaccounts");
  std::optional<http::Waiting> waiting;
  for (int left = name == kDefaultAccount ? kAttempts : 1; left > 0;) {
    auto found = call.objects.Get(*type, {.namespace_ = call.info.namespace_, .name = name},
                                  call.request.stop);
    if (found) {
      return std::optional(std::move(*found));
    }
    if (found.error().reason != Reason::kNotFound) {
      return Fail(found.error());
    }
    if (--left > 0) {
      if (!waiting) {
        waiting.emplace(call.request);
        KX_RETURN_IF_ERROR(waiting->Check());
      }
      if (!call.objects.clock().SleepFor(kBetweenAttempts, call.request.stop)) {
        return Fail(Reason::kCancelled, "stopped while waiting for a service account");
      }
    }
  }
  return std::optional<JsonTree>();
}

/// Returns the pod's account. An error of the namespace comes first: nothing is returned when the
/// namespace is about to refuse the pod.
Result<std::optional<JsonTree>> NeedAccount(const Call& call, const JsonTree& pod) {
  const ResourceTypeRef namespaces = call.types.Find("", "v1", "namespaces");
  KX_ASSIGN_OR_RETURN(
      const JsonTree namespace_,
      call.objects.Get(*namespaces, {.name = call.info.namespace_}, call.request.stop));
  if (IsDeleting(namespace_)) {
    return std::optional<JsonTree>();
  }
  const std::string name = AccountOf(pod);
  KX_ASSIGN_OR_RETURN(std::optional<JsonTree> account, FindAccount(call, name));
  if (!account) {
    return Fail(Refused(call, pod,
                        "error looking up service account " + call.info.namespace_ + "/" + name +
                            ": serviceaccount " + JsonTree(name).ToJson() + " not found"));
  }
  return account;
}

/// The pod's setting overrides the account's.
bool WantsToken(const JsonTree& account, const JsonTree& pod) {
  const JsonTree* const own = pod.At({"spec", "automountServiceAccountToken"});
  const JsonTree* const general = account.Find("automountServiceAccountToken");
  const JsonTree* const wish = own != nullptr && own->AsBool() ? own : general;
  return wish == nullptr || wish->AsBool().value_or(true);
}

bool IsMounted(const JsonTree& container) {
  return std::ranges::any_of(ElementsAt(container, {"volumeMounts"}), [](const JsonTree& mount) {
    return mount.TextAt("mountPath") == kMountPath;
  });
}

void MountToken(JsonTree& spec) {
  std::string volume;
  for (const JsonTree& one : ElementsAt(spec, {"volumes"})) {
    // A name that is invalid is refused later; otherwise every container would have it by then.
    if (const std::string_view name = one.TextAt("name");
        name.starts_with(kVolumePrefix) && apimachinery::IsDnsLabel(name)) {
      volume = name;
      break;
    }
  }
  const bool there = !volume.empty();
  if (!there) {
    volume = GeneratedName(kVolumePrefix);
  }
  bool needed = false;
  for (const char* const list : {"initContainers", "containers"}) {
    JsonTree* const containers = spec.Find(list);
    for (JsonTree& container :
         containers == nullptr ? std::span<JsonTree>() : containers->elements()) {
      if (!IsMounted(container)) {
        JsonTree mount = JsonTree::Object();
        mount["name"] = volume;
        mount["readOnly"] = true;
        mount["mountPath"] = kMountPath;
        container["volumeMounts"].Append(std::move(mount));
        needed = true;
      }
    }
  }
  if (needed && !there) {
    JsonTree added = JsonTree::Object();
    added["name"] = volume;
    added["projected"] = *JsonTree::Parse(kTokenSource);
    spec["volumes"].Append(std::move(added));
  }
}

void TakePullSecrets(const JsonTree& account, JsonTree& spec) {
  if (!ElementsAt(spec, {"imagePullSecrets"}).empty()) {
    return;
  }
  for (const JsonTree& one : ElementsAt(account, {"imagePullSecrets"})) {
    JsonTree reference = JsonTree::Object();
    reference["name"] = one.TextAt("name");
    spec["imagePullSecrets"].Append(std::move(reference));
  }
}

/// A Secret that a pod refers to and the place of the reference. These are views into the pod.
struct SecretUse {
  std::string_view name{};
  std::string_view list{};  ///< "container " or "init container "; empty: by a volume
  std::string_view container{};
  std::optional<std::string_view> env{};  ///< nothing: by envFrom

  std::string Where() const {
    if (list.empty()) {
      return "volume with ";
    }
    return std::string(list) + std::string(container) +
           (env ? " with envVar " + std::string(*env) : " with envFrom") + " referencing ";
  }
};

std::vector<SecretUse> SecretsOf(const JsonTree& spec) {
  std::vector<SecretUse> uses;
  for (const JsonTree& volume : ElementsAt(spec, {"volumes"})) {
    if (const JsonTree* const secret = volume.Find("secret")) {
      uses.push_back({.name = secret->TextAt("secretName")});
    }
  }
  for (const auto& [list, word] :
       {std::pair("initContainers", "init container "), std::pair("containers", "container ")}) {
    for (const JsonTree& container : ElementsAt(spec, {list})) {
      const std::string_view here = container.TextAt("name");
      for (const JsonTree& env : ElementsAt(container, {"env"})) {
        if (const JsonTree* const key = env.At({"valueFrom", "secretKeyRef"})) {
          uses.push_back({.name = key->TextAt("name"),
                          .list = word,
                          .container = here,
                          .env = env.TextAt("name")});
        }
      }
      for (const JsonTree& from : ElementsAt(container, {"envFrom"})) {
        if (const JsonTree* const secret = from.Find("secretRef")) {
          uses.push_back({.name = secret->TextAt("name"), .list = word, .container = here});
        }
      }
    }
  }
  return uses;
}

std::set<std::string_view> NamesIn(const JsonTree& account, std::string_view list) {
  std::set<std::string_view> names;
  for (const JsonTree& one : ElementsAt(account, {list})) {
    names.insert(one.TextAt("name"));
  }
  return names;
}

/// Returns why an account that lists its pods' Secrets does not allow these, or "" when it does.
std::string SecretProblem(const JsonTree& account, const JsonTree& spec) {
  const std::string of = MetaString(account, "name");
  const std::set<std::string_view> secrets = NamesIn(account, "secrets");
  for (const SecretUse& use : SecretsOf(spec)) {
    if (!secrets.contains(use.name)) {
      return use.Where() + "secret.secretName=\"" + std::string(use.name) +
             "\" is not allowed because service account " + of + " does not reference that secret";
    }
  }
  const std::set<std::string_view> pull_secrets = NamesIn(account, "imagePullSecrets");
  const auto wanted = ElementsAt(spec, {"imagePullSecrets"});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (const std::string_view name = wanted[i].TextAt("name"); !pull_secrets.contains(name)) {
      return "imagePullSecrets[" + std::to_string(i) + "].name=\"" + std::string(name) +
             "\" is not allowed because service account " + of +
             " does not reference that imagePullSecret";
    }
  }
  return {};
}

/// As Go's strconv.ParseBool.
bool IsGoTrue(std::string_view text) {
  constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "True", "TRUE"};
  return std::ranges::find(kTrue, text) != std::end(kTrue);
}

/// The kubelet makes a mirror pod from a file, before there are any accounts.
std::string MirrorProblem(const JsonTree& pod) {
  if (!AccountOf(pod).empty()) {
    return "a mirror pod may not reference service accounts";
  }
  const JsonTree* const spec = pod.Find("spec");
  if (spec == nullptr) {
    return {};
  }
  if (!SecretsOf(*spec).empty() || !ElementsAt(*spec, {"imagePullSecrets"}).empty()) {
    return "a mirror pod may not reference secrets";
  }
  for (const JsonTree& volume : ElementsAt(*spec, {"volumes"})) {
    for (const JsonTree& source : ElementsAt(volume, {"projected", "sources"})) {
      if (source.Find("secret") != nullptr) {
        return "a mirror pod may not reference secrets";
      }
      if (source.Find("serviceAccountToken") != nullptr) {
        return "a mirror pod may not use ServiceAccountToken volume projections";
      }
    }
  }
  return {};
}

}  // namespace

bool HasServiceAccount(const Call& call) {
  return call.service_accounts && call.info.subresource.empty() && call.type->Is("", "pods");
}

Result<void> GiveServiceAccount(const Call& call, JsonTree& pod) {
  if (IsMirror(pod)) {
    return CheckServiceAccount(call, pod);
  }
  JsonTree& spec = pod["spec"];
  if (AccountOf(pod).empty()) {
    spec["serviceAccountName"] = kDefaultAccount;
  }
  KX_ASSIGN_OR_RETURN(const std::optional<JsonTree> account, NeedAccount(call, pod));
  if (!account) {
    return {};
  }
  if (WantsToken(*account, pod)) {
    MountToken(spec);
  }
  TakePullSecrets(*account, spec);
  // The new elements get their place and their defaults. The client's managed fields stay.
  JsonTree managers;
  if (JsonTree* const found = pod["metadata"].Find("managedFields")) {
    managers = std::move(*found);
    pod["metadata"].Erase("managedFields");
  }
  KX_ASSIGN_OR_RETURN(pod, Canonical(*call.type, pod));
  SetDefaults(*call.type, pod);
  if (!managers.IsNull()) {
    pod["metadata"]["managedFields"] = std::move(managers);
  }
  return {};
}

Result<void> CheckServiceAccount(const Call& call, const JsonTree& pod) {
  if (IsMirror(pod)) {
    const std::string problem = MirrorProblem(pod);
    return problem.empty() ? Result<void>() : Fail(Refused(call, pod, problem));
  }
  if (AccountOf(pod).empty()) {
    return Fail(Refused(call, pod,
                        "no service account specified for pod " + call.info.namespace_ + "/" +
                            MetaString(pod, "name")));
  }
  KX_ASSIGN_OR_RETURN(const std::optional<JsonTree> account, NeedAccount(call, pod));
  if (!account) {
    return {};
  }
  const auto annotations = MetaMap(*account, "annotations");
  const auto enforced = annotations.find(std::string(kEnforceAnnotation));
  const JsonTree* const spec = pod.Find("spec");
  if (spec != nullptr && enforced != annotations.end() && IsGoTrue(enforced->second)) {
    if (const std::string problem = SecretProblem(*account, *spec); !problem.empty()) {
      return Fail(Refused(call, pod, problem));
    }
  }
  return {};
}

}  // namespace kubexx::apiserver
