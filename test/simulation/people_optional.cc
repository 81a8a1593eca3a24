// The APIs of optional types, which people install and take away: Rollouts of Argo, what the
// Secrets Store CSI driver has, and policies.
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/pod_template.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

constexpr const char* kTypeDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kCsiGroup = "/apis/secrets-store.csi.x-k8s.io/v1/";

/// One custom resource; what the real definitions say beyond this makes no difference to operators.
struct Definition {
  std::string group{};
  std::string version{};
  std::string plural{};
  std::string kind{};
};

std::vector<Definition> DefinitionsOf(OptionalApi api) {
  constexpr const char* kCsi = "secrets-store.csi.x-k8s.io";
  if (api == OptionalApi::kArgo) {
    return {{"argoproj.io", "v1alpha1", "rollouts", "Rollout"}};
  }
  if (api == OptionalApi::kPolicies) {
    return {{"kubexx.io", "v1alpha1", "reloadpolicies", "ReloadPolicy"},
            {"kubexx.io", "v1alpha1", "clusterreloadpolicies", "ClusterReloadPolicy"}};
  }
  if (api == OptionalApi::kOpenShift) {
    return {{"apps.openshift.io", "v1", "deploymentconfigs", "DeploymentConfig"}};
  }
  if (api == OptionalApi::kObjects) {
    return {{"ci.example.com", "v1", oracle::kObjectPlural, oracle::kObjectKind}};
  }
  return {{kCsi, "v1", "secretproviderclasses", "SecretProviderClass"},
          {kCsi, "v1", "secretproviderclasspodstatuses", "SecretProviderClassPodStatus"}};
}

std::string DefinitionBody(const Definition& of) {
  std::string singular = of.kind;
  for (char& each : singular) {
    each = static_cast<char>(each >= 'A' && each <= 'Z' ? each - 'A' + 'a' : each);
  }
  constexpr const char* kAnything =
      R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})";
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
         R"("metadata":{"name":")" +
         of.plural + "." + of.group + R"("},"spec":{"group":")" + of.group +
         R"(","scope":"Namespaced","names":{"plural":")" + of.plural + R"(","singular":")" +
         singular + R"(","kind":")" + of.kind + R"(","listKind":")" + of.kind +
         R"(List"},"versions":[{"name":")" + of.version +
         R"(","served":true,"storage":true,"subresources":{)" +
         (of.kind == "Rollout" ? R"("status":{})" : "") +
         R"(},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)" + kAnything +
         R"(,"status":)" + kAnything + (of.kind == oracle::kObjectKind ? R"(,"data":)" : "") +
         (of.kind == oracle::kObjectKind ? kAnything : "") + "}}}}]}}";
}

/// So often the server is asked whether it has done what it has agreed to.
constexpr int kMostLooks = 240;
constexpr std::chrono::milliseconds kBetweenLooks{500};

}  // namespace

void People::Install(OptionalApi api, const std::stop_token& stop) {
  for (const Definition& each : DefinitionsOf(api)) {
    const std::string body =
        api == OptionalApi::kPolicies ? PolicyDefinition(each.plural) : DefinitionBody(each);
    const std::string all = "/apis/" + each.group + "/" + each.version + "/" + each.plural;
    for (int look = 0; look < kMostLooks; ++look) {
      Insist({.method = "POST", .path = kTypeDefinitions, .body = body}, stop);
      if (options_.client->Get().AbsPath(all).Do(stop) ||
          !base::Clock::Real().SleepFor(kBetweenLooks, stop)) {
        break;
      }
    }
  }
  has_api_[static_cast<std::size_t>(api)] = true;
  if (api == OptionalApi::kCsi) {
    for (const std::string& space : spaces_) {
      PutClass(space, stop);
    }
  }
}

void People::TakeAway(OptionalApi api, const std::stop_token& stop) {
  has_api_[static_cast<std::size_t>(api)] = false;
  if (api == OptionalApi::kArgo) {
    for (Workload& workload : workloads_) {
      workload.there = workload.there && workload.kind != kRollout;
    }
  }
  if (api == OptionalApi::kPolicies) {
    with_policy_.clear();
  }
  for (const Definition& each : DefinitionsOf(api)) {
    const std::string path = std::string(kTypeDefinitions) + "/" + each.plural + "." + each.group;
    Insist({.method = "DELETE", .path = path}, stop);
    for (int look = 0; look < kMostLooks; ++look) {
      const auto answer = options_.client->Get().AbsPath(path).Do(stop);
      if ((!answer && answer.error().code == 404) ||
          !base::Clock::Real().SleepFor(kBetweenLooks, stop)) {
        break;
      }
    }
  }
}

std::vector<OptionalApi> People::OptionalApis() const {
  std::vector<OptionalApi> apis;
  if (options_.argo) {
    apis.push_back(OptionalApi::kArgo);
  }
  if (options_.rotate) {
    apis.push_back(OptionalApi::kCsi);
  }
  if (options_.policies && !has_waves_) {
    apis.push_back(OptionalApi::kPolicies);
  }
  return apis;
}

void People::ChangeOptional(const std::stop_token& stop) {
  const std::vector<OptionalApi> apis = OptionalApis();
  if (apis.empty()) {
    return;
  }
  const OptionalApi api = apis[random_.Below(apis.size())];
  if (has_api_[static_cast<std::size_t>(api)]) {
    TakeAway(api, stop);
  } else {
    Install(api, stop);
  }
}

void People::InstallMissing(const std::stop_token& stop) {
  for (const OptionalApi api : OptionalApis()) {
    if (!has_api_[static_cast<std::size_t>(api)]) {
      Install(api, stop);
    }
  }
}

void People::PutClass(const std::string& space, const std::stop_token& stop) {
  Insist({.method = "POST",
          .path = kCsiGroup + ("namespaces/" + space + "/secretproviderclasses"),
          .body = R"({"apiVersion":"secrets-store.csi.x-k8s.io/v1","kind":"SecretProviderClass",)"
                  R"("metadata":{"name":")" +
                  std::string(kProviderClass) + R"("},"spec":{"provider":"simulated"}})"},
         stop);
}

}  // namespace kubexx::simulation
