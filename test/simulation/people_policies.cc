// Policies that people install.
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kubexx/base/testing/places/places.h"
#include "kubexx/codec/yaml.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

constexpr const char* kPolicyName = "gentle";
/// The canaries among the workloads, and how long later waves wait then.
constexpr const char* kCanary = "d0";
constexpr std::chrono::seconds kHealthyFor{5};
/// In seconds, how long bad data stay at most where somebody looks at what comes of them.
constexpr std::int64_t kLongestBad = 60;

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

void People::PutPolicy(const std::string& space, const std::string& spec,
                       const std::stop_token& stop) {
  Insist(
      {.method = "POST",
       .path = PoliciesIn(space),
       .body = R"({"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy","metadata":{"name":")" +
               std::string(kPolicyName) + R"("},"spec":)" + spec + "}"},
      stop);
}

void People::ChangePolicy(const std::string& space, const std::stop_token& stop) {
  if (!has_api_[static_cast<std::size_t>(OptionalApi::kPolicies)] || has_waves_) {
    return;
  }
  if (with_policy_.erase(space) != 0) {
    Insist({.method = "DELETE", .path = PoliciesIn(space) + "/" + kPolicyName}, stop);
    return;
  }
  with_policy_.insert(space);
  PutPolicy(space, kSpecs[random_.Below(kSpecs.size())], stop);
}

std::optional<oracle::Oracle::Waves> People::BeginWaves(bool restores,
                                                        const std::stop_token& stop) {
  if (!options_.policies || IsIn(options_.without, Act::kPolicy)) {
    return std::nullopt;
  }
  if (!has_api_[static_cast<std::size_t>(OptionalApi::kPolicies)]) {
    Install(OptionalApi::kPolicies, stop);
  }
  const std::string healthy_for = std::to_string(kHealthyFor.count()) + "s";
  for (const std::string& space : spaces_) {
    with_policy_.insert(space);
    PutPolicy(space,
              R"({"waves":{"canaries":[")" + std::string(kCanary) +
                  R"("],"sizes":[{"count":1}],"healthyFor":")" + healthy_for +
                  R"(","timeout":"60s")" + (restores ? OnFailureIn(space) : std::string()) + "}}",
              stop);
  }
  has_waves_ = true;
  return oracle::Oracle::Waves{
      .spaces = {spaces_.begin(), spaces_.end()}, .canary = kCanary, .healthy_for = kHealthyFor};
}

std::string People::OnFailureIn(const std::string& space) const {
  std::string names;
  for (const Source& source : sources_) {
    if (source.is_secret && source.space == space) {
      names += (names.empty() ? "\"" : ",\"") + source.name + "\"";
    }
  }
  return R"(,"onFailure":"Restore")" +
         (names.empty() ? std::string() : R"(,"restoreSecrets":[)" + names + "]");
}

People::Source& People::SourceForWaves() {
  std::vector<std::size_t> of_canaries;
  for (const Workload& workload : workloads_) {
    if (workload.name == kCanary) {
      of_canaries.insert(of_canaries.end(), workload.sources.begin(), workload.sources.end());
    }
  }
  return random_.Chance(700) ? sources_[of_canaries[random_.Below(of_canaries.size())]]
                             : sources_[random_.Below(sources_.size())];
}

void People::Break(Source& source, const std::stop_token& stop) {
  if (!has_waves_ || !source.there) {
    return;
  }
  const std::uint64_t good = source.value;
  Edit(source, kFirstBad + next_value_++, stop);
  if (random_.Chance(300)) {  // before long somebody sees what comes of it
    base::Clock::Real().SleepFor(std::chrono::seconds(random_.Between(5, kLongestBad)), stop);
    Edit(source, random_.Chance(500) ? good : next_value_++, stop);
  }
}

void People::EndHolds(const std::stop_token& stop) {
  for (Workload& workload : workloads_) {
    if (workload.there && workload.was_on_hold) {  // an undo or a backup may have brought it back
      Resume(workload, stop);
    }
  }
  for (Source& source : sources_) {
    if (source.there && source.value >= kFirstBad) {
      Edit(source, next_value_++, stop);
    }
  }
  has_waves_ = false;
  if (!has_api_[static_cast<std::size_t>(OptionalApi::kPolicies)]) {
    return;
  }
  for (const std::string& space : spaces_) {  // also where a backup has brought one back
    Insist({.method = "DELETE", .path = PoliciesIn(space) + "/" + kPolicyName}, stop);
  }
  with_policy_.clear();
}

}  // namespace kubexx::simulation
