// Policies that people install.
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>

#include "kubexx/codec/yaml.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kAllPolicies = "/apis/kubexx.io/v1alpha1/reloadpolicies";
constexpr const char* kPolicyName = "gentle";

/// None of them keeps rollouts from coming to an end once those that pause are gone.
constexpr std::array<const char*, 5> kSpecs = {
    R"({"paused":true})", R"({"maxConcurrentRollouts":1})", R"({"minInterval":"30s"})",
    R"({"settleWindow":"5s"})",
    R"({"order":[{"workloads":["d0"],"order":1},{"workloads":["d1"],"order":2}]})"};

std::string PoliciesIn(const std::string& space) {
  return "/apis/kubexx.io/v1alpha1/namespaces/" + space + "/reloadpolicies";
}

}  // namespace

void People::InstallPolicies(const std::stop_token& stop) {
  for (const char* const plural : {"reloadpolicies", "clusterreloadpolicies"}) {
    std::ifstream file(std::string(KUBEXX_SOURCE_DIR) + "/helm/kubexx-reloader/crds/kubexx.io_" +
                       plural + ".yaml");
    const auto json = codec::YamlToJson(std::string(std::istreambuf_iterator<char>(file), {}));
    if (json && !json->empty()) {
      Insist({.method = "POST", .path = kDefinitions, .body = json->front()}, stop);
    }
  }
  while (!options_.client->Get().AbsPath(kAllPolicies).Do(stop) &&
         base::Clock::Real().SleepFor(std::chrono::milliseconds(500), stop)) {
  }
}

void People::ChangePolicy(const std::string& space, const std::stop_token& stop) {
  if (with_policy_.erase(space) != 0) {
    Insist({.method = "DELETE", .path = PoliciesIn(space) + "/" + kPolicyName}, stop);
    return;
  }
  with_policy_.insert(space);
  Insist(
      {.method = "POST",
       .path = PoliciesIn(space),
       .body = R"({"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy","metadata":{"name":")" +
               std::string(kPolicyName) + R"("},"spec":)" + kSpecs[random_.Below(kSpecs.size())] +
               "}"},
      stop);
}

void People::EndPolicies(const std::stop_token& stop) {
  if (!options_.policies) {
    return;
  }
  for (const std::string& space : spaces_) {  // also where a backup has brought one back
    Insist({.method = "DELETE", .path = PoliciesIn(space) + "/" + kPolicyName}, stop);
  }
  with_policy_.clear();
}

}  // namespace kubexx::simulation
