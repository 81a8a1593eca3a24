// The rights that people give operators, and take from them.
#include <string>
#include <vector>

#include "kubexx/reloader/restore/source_store.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

constexpr const char* kGroup = "/apis/rbac.authorization.k8s.io/v1/";
constexpr const char* kAll = "cluster-admin";
constexpr const char* kReads = "operator-reads";
constexpr const char* kReadsPolicies = "operator-reads-policies";

/// Where bindings are of a namespace, or of all with "".
std::string BindingsIn(const std::string& space) {
  return kGroup + (space.empty() ? std::string("clusterrolebindings")
                                 : "namespaces/" + space + "/rolebindings");
}

}  // namespace

void People::MakeRoles(const std::stop_token& stop) {
  // An operator would make the key of snapshots by chance, and names would differ from run to run.
  Insist({.method = "POST",
          .path = std::string("/api/v1/namespaces/") + kOperatorSpace + "/secrets",
          .body = R"({"metadata":{"name":")" + std::string(reloader::kSnapshotKeySecret) +
                  R"("},"data":{"key":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}})"},
         stop);
  for (const auto& [name, groups] :
       {std::pair(kReads, R"(["*"])"), std::pair(kReadsPolicies, R"(["kubexx.io"])")}) {
    Insist(
        {.method = "POST",
         .path = std::string(kGroup) + "clusterroles",
         .body = R"({"metadata":{"name":")" + std::string(name) + R"("},"rules":[{"apiGroups":)" +
                 groups + R"(,"resources":["*"],"verbs":["get","list","watch"]}]})"},
        stop);
  }
}

void People::Bind(const std::string& space, const std::string& role, const std::stop_token& stop) {
  Insist({.method = "POST",
          .path = BindingsIn(space),
          .body = R"({"metadata":{"name":")" + std::string(kOperatorUser) +
                  R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
                  R"("name":")" +
                  role + R"("},"subjects":[{"kind":"User","name":")" + kOperatorUser +
                  R"(","apiGroup":"rbac.authorization.k8s.io"}]})"},
         stop);
}

void People::Unbind(const std::string& space, const std::stop_token& stop) {
  Insist({.method = "DELETE", .path = BindingsIn(space) + "/" + kOperatorUser}, stop);
}

void People::SetRights(bool given, const std::stop_token& stop) {
  if (given) {
    Bind("",
         options_.rights == Rights::kEverywhere      ? kAll
         : options_.rights == Rights::kWritesBySpace ? kReads
                                                     : kReadsPolicies,
         stop);
  } else {
    Unbind("", stop);
  }
  if (options_.rights != Rights::kEverywhere) {
    SetRightsIn(kOperatorSpace, given, stop);
    for (const std::string& space : spaces_) {
      SetRightsIn(space, given, stop);
    }
  }
}

void People::SetRightsIn(const std::string& space, bool given, const std::stop_token& stop) {
  if (given) {
    Bind(space, kAll, stop);
  } else {
    Unbind(space, stop);
  }
}

}  // namespace kubexx::simulation
