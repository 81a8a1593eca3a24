// Policies that people install.
#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "kubexx/base/testing/places/places.h"
#include "kubexx/codec/yaml.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

constexpr const char* kPolicyName = "gentle";

/// None of them keeps rollouts from coming to an end once those that pause are gone.
constexpr std::array<const char*, 6> kSpecs = {
    R"({"paused":true})",
    R"({"maxConcurrentRollouts":1})",
    R"({"minInterval":"30s"})",
    R"({"settleWindow":"5s"})",
    R"({"waves":{"sizes":[{"count":1}],"healthyFor":"5s","timeout":"30s"}})",
    R"({"order":[{"workloads":["d0"],"order":1},{"workloads":["d1"],"order":2}]})"};

std::string PoliciesIn(const std::string& space) {
  return "/apis/kubexx.io/v1alpha1/namespaces/" + space + "/reloadpolicies";
}

}  // namespace

std::string People::PolicyDefinition(const std::string& plural) {
  std::ifstream file(base::testing::SourceTree() / "helm/kubexx-reloader/crds" /
                     ("kubexx.io_" + plural + ".yaml"));
  const auto json = codec::YamlToJson(std::string(std::istreambuf_iterator<char>(file), {}));
  return json && !json->empty() ? json->front() : std::string();
}

void People::ChangePolicy(const std::string& space, const std::stop_token& stop) {
  if (!has_api_[static_cast<std::size_t>(OptionalApi::kPolicies)]) {
    return;
  }
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

void People::EndHolds(const std::stop_token& stop) {
  for (Workload& workload : workloads_) {
    if (workload.there && workload.was_on_hold) {  // an undo or a backup may have brought it back
      Resume(workload, stop);
    }
  }
  if (!has_api_[static_cast<std::size_t>(OptionalApi::kPolicies)]) {
    return;
  }
  for (const std::string& space : spaces_) {  // also where a backup has brought one back
    Insist({.method = "DELETE", .path = PoliciesIn(space) + "/" + kPolicyName}, stop);
  }
  with_policy_.clear();
}

}  // namespace kubexx::simulation
