// How people undo what operators have rolled for, and mend the data then.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/digest.h"
#include "oracle/pod_template.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

/// So many seconds somebody waits for a rollout.
constexpr int kPatience = 60;

/// Whether `object` says that it was rolled for something with this digest, and its pods are there.
bool IsThrough(const codec::JsonTree& object, const std::string& digest) {
  const codec::JsonTree* const pod = object.At({"spec", "template"});
  const codec::JsonTree* const observed = object.At({"status", "observedGeneration"});
  const codec::JsonTree* const generation = object.At({"metadata", "generation"});
  return pod != nullptr && oracle::StampsIn(*pod).find(digest) != std::string::npos &&
         observed != nullptr && generation != nullptr &&
         observed->AsInt().value_or(0) >= generation->AsInt().value_or(0);
}

}  // namespace

std::string People::DigestFor(const Workload& workload, const Source& source, std::uint64_t value) {
  const std::string plain = PlainValueOf(source.is_secret, value);
  const std::string other = PlainValueOf(source.is_secret, source.other);
  const std::string over = reloader::DigestOf(plain).ToString();
  reloader::DigestBuilder digest;
  if (source.is_object) {  // as JSON has the values
    const std::string key = '"' + plain + '"';
    const std::string another = '"' + other + '"';
    digest.Add("data.key", key);
    digest.Add("data.other", another);
    return digest.Finish().ToString();
  }
  digest.Add("key", workload.by_key ? over : plain);
  if (!workload.by_key) {
    digest.Add("other", other);
  }
  return digest.Finish().ToString();
}

std::optional<People::Data> People::FormerData(const Workload& workload,
                                               const std::string& pod_template) const {
  const auto pod = codec::JsonTree::Parse(pod_template);
  const std::string stamps = pod ? oracle::StampsIn(*pod) : std::string();
  for (const std::size_t index : workload.sources) {
    const Source& source = sources_[index];
    for (const std::uint64_t value : source.values) {
      if (value != source.value &&
          stamps.find(DigestFor(workload, source, value)) != std::string::npos) {
        return Data{.source = index, .value = value};
      }
    }
  }
  return std::nullopt;
}

bool People::AwaitRollout(const Workload& workload, const Source& source,
                          const std::stop_token& stop) {
  const std::string digest = DigestFor(workload, source, source.value);
  const std::string path = PathOf(workload) + "/" + workload.name;
  for (int second = 0; second < kPatience; ++second) {
    if (!base::Clock::Real().SleepFor(std::chrono::seconds(1), stop)) {
      return false;
    }
    const auto answer = options_.client->Get().AbsPath(path).Do(stop);
    const auto object = answer ? codec::JsonTree::Parse(answer->body)
                               : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
    if (object && IsThrough(*object, digest)) {
      return true;
    }
  }
  return false;
}

std::optional<std::size_t> People::PrepareUndo(const std::stop_token& stop) {
  std::vector<std::size_t> fit;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const Workload& workload = workloads_[i];
    if (workload.there && HasTemplate(workload) && !workload.pauses && !workload.opted_out &&
        !workload.on_hold && !workload.in_place && workload.base.empty()) {
      fit.push_back(i);
    }
  }
  if (fit.empty() || IsIn(options_.without, Act::kUndo)) {
    return std::nullopt;
  }
  // Only an undo of a Deployment brings the annotations back, so they are undone most.
  const auto with_annotations = std::ranges::stable_partition(
      fit, [this](std::size_t index) { return workloads_[index].kind == kDeployment; });
  const auto deployments =
      static_cast<std::size_t>(std::distance(fit.begin(), with_annotations.begin()));
  const std::size_t chosen =
      fit[random_.Below(deployments == 0 || random_.Chance(250) ? fit.size() : deployments)];
  Workload& workload = workloads_[chosen];
  Source& source = sources_[workload.sources[random_.Below(workload.sources.size())]];
  for (int i = 0; i < 2; ++i) {
    if (source.paused) {
      DoTo(source, Act::kPause, stop);
    }
    Edit(source, next_value_++, stop);
    if (!AwaitRollout(workload, source, stop)) {
      return std::nullopt;
    }
  }
  return chosen;
}

void People::UndoPrepared(std::size_t workload, bool mend, const std::stop_token& stop) {
  Undo(workloads_[workload], mend, stop);
}

}  // namespace kubexx::simulation
