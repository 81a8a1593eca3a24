// The APIs of optional types, which people install and take away: Rollouts of Argo, and what the
// Secrets Store CSI driver has.
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

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
         R"(,"status":)" + kAnything + "}}}}]}}";
}

/// So often the server is asked whether it has done what it has agreed to.
constexpr int kMostLooks = 240;
constexpr std::chrono::milliseconds kBetweenLooks{500};

}  // namespace

void People::Install(OptionalApi api, const std::stop_token& stop) {
  for (const Definition& each : DefinitionsOf(api)) {
    const std::string all = "/apis/" + each.group + "/" + each.version + "/" + each.plural;
    for (int look = 0; look < kMostLooks; ++look) {
      Insist({.method = "POST", .path = kTypeDefinitions, .body = DefinitionBody(each)}, stop);
      if (options_.client->Get().AbsPath(all).Do(stop) ||
          !base::Clock::Real().SleepFor(kBetweenLooks, stop)) {
        break;
      }
    }
  }
  has_api_[static_cast<std::size_t>(api)] = true;
}

void People::TakeAway(OptionalApi api, const std::stop_token& stop) {
  has_api_[static_cast<std::size_t>(api)] = false;
  if (api == OptionalApi::kArgo) {
    for (Workload& workload : workloads_) {
      workload.there = workload.there && workload.kind != kRollout;
    }
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

void People::ChangeOptional(const std::string& space, const std::stop_token& stop) {
  const OptionalApi api = options_.argo && (!options_.csi || random_.Chance(500))
                              ? OptionalApi::kArgo
                              : OptionalApi::kCsi;
  if (!has_api_[static_cast<std::size_t>(api)]) {
    Install(api, stop);
  } else if (api == OptionalApi::kArgo || random_.Chance(300)) {
    return TakeAway(api, stop);
  }
  if (api == OptionalApi::kCsi) {
    Rotate(space, stop);
  }
}

void People::Rotate(const std::string& space, const std::stop_token& stop) {
  const std::string of_space = kCsiGroup + ("namespaces/" + space);
  constexpr const char* kClass = "class";
  constexpr const char* kApi = R"({"apiVersion":"secrets-store.csi.x-k8s.io/v1","kind":")";
  Insist({.method = "POST",
          .path = of_space + "/secretproviderclasses",
          .body = kApi + (R"(SecretProviderClass","metadata":{"name":")" + std::string(kClass)) +
                  R"("},"spec":{"provider":"simulated"}})"},
         stop);
  const std::string status = R"("status":{"podName":"p","secretProviderClassName":")" +
                             std::string(kClass) +
                             R"(","mounted":true,"objects":[{"id":"o","version":"v)" +
                             std::to_string(next_value_++) + R"("}]}})";
  const std::string statuses = of_space + "/secretproviderclasspodstatuses";
  Insist({.method = "POST",
          .path = statuses,
          .body = std::string(kApi) + R"(SecretProviderClassPodStatus","metadata":{"name":"p"},)" +
                  status},
         stop);
  Insist({.method = "PATCH",
          .path = statuses + "/p",
          .body = "{" + status,
          .patch = rest::PatchType::kMerge},
         stop);
}

}  // namespace kubexx::simulation
