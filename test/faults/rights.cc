#include "faults/rights.h"

#include <cstddef>
#include <stop_token>
#include <string>

#include "kubexx/rest/request.h"

namespace kubexx::faults {
namespace {

const std::string kApi = "/apis/rbac.authorization.k8s.io/v1";
// Who may read, who may patch workloads, and who may do what operators do among themselves.
const std::string kReading = "faults-reading";
const std::string kPatching = "faults-patching";
const std::string kOwn = "faults-own";

std::string Rule(const std::string& groups, const std::string& resources,
                 const std::string& verbs) {
  return R"({"apiGroups":[)" + groups + R"(],"resources":[)" + resources + R"(],"verbs":[)" +
         verbs + "]}";
}

std::string ReadingRules(Loss loss) {
  if (loss == Loss::kAll) {
    return "[]";
  }
  const std::string verbs = loss == Loss::kWatch ? R"("get","list")" : R"("get","list","watch")";
  const std::string sources =
      loss == Loss::kSecrets ? R"("configmaps")" : R"("configmaps","secrets")";
  return "[" + Rule(R"("")", sources, verbs) + "," +
         Rule(R"("apps")", R"("deployments","statefulsets","daemonsets")", verbs) + "," +
         Rule(R"("batch")", R"("jobs","cronjobs")", verbs) + "]";
}

std::string PatchingRules(Loss loss) {
  return loss == Loss::kPatch || loss == Loss::kAll
             ? "[]"
             : "[" +
                   Rule(R"("apps")", R"("deployments","statefulsets","daemonsets")", R"("patch")") +
                   "]";
}

std::string OwnRules(Loss loss) {
  const std::string events = Rule(R"("","events.k8s.io")", R"("events")", R"("create","patch")");
  return loss == Loss::kLeases
             ? "[" + events + "]"
             : "[" + events + "," + Rule(R"("coordination.k8s.io")", R"("leases")", R"("*")") + "]";
}

std::string BindingOf(const std::string& role) {
  return R"({"metadata":{"name":")" + role +
         R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" +
         role + R"("},"subjects":[{"kind":"User","name":")" + kOperatorUser +
         R"(","apiGroup":"rbac.authorization.k8s.io"}]})";
}

}  // namespace

void Rights::SetRules(const std::string& role, const std::string& rules,
                      const std::stop_token& stop) const {
  admin_.Insist({.method = "PATCH",
                 .path = kApi + "/clusterroles/" + role,
                 .body = R"({"rules":)" + rules + "}",
                 .patch = rest::PatchType::kMerge},
                stop);
}

void Rights::Bind(const std::string& space, const std::stop_token& stop) const {
  admin_.Insist({.method = "POST",
                 .path = kApi + "/namespaces/" + space + "/rolebindings",
                 .body = BindingOf(kPatching)},
                stop);
}

void Rights::Begin(const std::stop_token& stop) const {
  admin_.Insist({.method = "POST",
                 .path = "/api/v1/namespaces",
                 .body = R"({"metadata":{"name":")" + std::string(kOperatorSpace) + R"("}})"},
                stop);
  for (const std::string& role : {kReading, kPatching, kOwn}) {
    admin_.Insist({.method = "POST",
                   .path = kApi + "/clusterroles",
                   .body = R"({"metadata":{"name":")" + role + R"("},"rules":[]})"},
                  stop);
  }
  for (const std::string& role : {kReading, kOwn}) {
    admin_.Insist(
        {.method = "POST", .path = kApi + "/clusterrolebindings", .body = BindingOf(role)}, stop);
  }
  Take(Loss::kNothing, 0, stop);
}

void Rights::Take(Loss loss, std::size_t space, const std::stop_token& stop) const {
  SetRules(kReading, ReadingRules(loss), stop);
  SetRules(kPatching, PatchingRules(loss), stop);
  SetRules(kOwn, OwnRules(loss), stop);
  for (std::size_t i = 0; i < spaces_.size(); ++i) {
    if (loss != Loss::kNamespace || i != space % spaces_.size()) {
      Bind(spaces_[i], stop);
    } else {
      admin_.Insist({.method = "DELETE",
                     .path = kApi + "/namespaces/" + spaces_[i] + "/rolebindings/" + kPatching},
                    stop);
    }
  }
}

}  // namespace kubexx::faults
