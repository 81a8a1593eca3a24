#include "oracle/rollouts.h"

#include <chrono>
#include <memory>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/codec/codec.h"
#include "kubexx/rest/request.h"

namespace kubexx::oracle {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};
constexpr const char* kArgoRollouts = "rollouts";
/// So many looks pass before pods run that have crashed.
constexpr std::int64_t kShortestCrash = 60;
constexpr std::int64_t kLongestCrash = 300;
/// Of a thousand rollouts so many take long: where all pods begin at once, and otherwise.
constexpr std::uint64_t kLong = 100;
constexpr std::uint64_t kLongOneByOne = 300;
/// Of a thousand looks at pods that begin one by one, so many find another one.
constexpr std::uint64_t kOneMore = 200;

}  // namespace

Rollouts::Rollouts(std::shared_ptr<rest::RESTClient> client, Oracle& oracle, Random random,
                   Pods pods)
    : client_(std::move(client)),
      oracle_(oracle),
      random_(random),
      pods_(pods),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Rollouts::Run(const std::stop_token& stop) {
  while (oracle_.AwaitUnfinished(stop) && base::Clock::Real().SleepFor(kLookEvery, stop)) {
    for (const Oracle::Unfinished& each : oracle_.UnfinishedWorkloads()) {
      const std::string key = each.plural + "/" + each.space + "/" + each.name;
      auto& [generation, looks] = left_[key];
      if (generation != each.generation + each.base_generation) {
        generation = each.generation + each.base_generation;
        looks = random_.Chance(pods_ == Pods::kOneByOne ? kLongOneByOne : kLong)
                    ? random_.Between(20, 600)
                    : random_.Between(0, 20);
      } else if (looks-- > 0) {
        if (pods_ == Pods::kOneByOne && random_.Chance(kOneMore)) {
          oracle_.PodBegins(key);
        }
      } else if (each.crashes && !each.is_crashing) {
        Finish(each, false, stop);
        looks = random_.Between(kShortestCrash, kLongestCrash);
      } else {
        Finish(each, true, stop);
      }
    }
  }
}

// What fails is tried again after the next look.
void Rollouts::Finish(const Oracle::Unfinished& workload, bool runs, const std::stop_token& stop) {
  const std::string all = std::to_string(workload.replicas);
  const std::string available = runs ? all : "0";
  const bool is_argo = workload.plural == kArgoRollouts;  // which has this number as text
  std::string status = R"("observedGeneration":)" + std::string(is_argo ? R"(")" : "") +
                       std::to_string(workload.generation) +
                       (!is_argo ? ""
                        : runs   ? R"(","phase":"Healthy")"
                                 : R"(","phase":"Degraded")");
  if (workload.base_generation != 0) {
    status += R"(,"workloadObservedGeneration":")" + std::to_string(workload.base_generation) + '"';
  }
  if (workload.plural == "daemonsets") {
    const std::string ready = runs ? "2" : "0";
    status += R"(,"desiredNumberScheduled":2,"currentNumberScheduled":2,)"
              R"("updatedNumberScheduled":2,"numberReady":)" +
              ready + R"(,"numberAvailable":)" + ready;
  } else {
    status += R"(,"replicas":)" + all + R"(,"updatedReplicas":)" + all + R"(,"readyReplicas":)" +
              available + R"(,"availableReplicas":)" + available;
  }
  if (workload.plural == "deployments" && (!runs || workload.is_crashing)) {
    status += R"(,"conditions":[{"type":"Progressing","status":")" +
              std::string(runs ? R"(True","reason":"NewReplicaSetAvailable"}])"
                               : R"(False","reason":"ProgressDeadlineExceeded"}])");
  }
  if (workload.plural == "statefulsets") {
    status += R"(,"currentRevision":"r","updateRevision":"r","currentReplicas":)" + all;
  }
  rest::Request request = client_->Patch(rest::PatchType::kMerge);
  request.AbsPath(
      (is_argo ? "/apis/argoproj.io/v1alpha1/namespaces/" : "/apis/apps/v1/namespaces/") +
      workload.space + "/" + workload.plural + "/" + workload.name + "/status");
  request.Body(codec::Encoding::kJson, R"({"status":{)" + status + "}}");
  (void)request.Do(stop);
}

}  // namespace kubexx::oracle
