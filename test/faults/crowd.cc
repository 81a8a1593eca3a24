#include "faults/crowd.h"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/rest/request.h"

namespace kubexx::faults {
namespace {

using std::to_string;

constexpr std::array<std::string_view, 3> kPlurals = {"deployments", "statefulsets", "daemonsets"};
constexpr std::size_t kDeployment = 0;
constexpr std::size_t kStatefulSet = 1;
constexpr std::size_t kDaemonSet = 2;

constexpr int kSpaces = 3;
constexpr std::size_t kSourcesEach = 4;
constexpr std::size_t kWorkloadsEach = 4;

struct KnownDeed {
  std::string_view name{};
  std::uint64_t weight = 0;
};
constexpr std::array<KnownDeed, kDeeds> kKnownDeeds = {{{"edit of data", 46},
                                                        {"edit undone", 9},
                                                        {"edits at once", 6},
                                                        {"label of a source", 6},
                                                        {"source paused or resumed", 4},
                                                        {"rollout paused or resumed", 4},
                                                        {"release", 6},
                                                        {"release with data", 6},
                                                        {"rollout undone", 5},
                                                        {"source deleted", 2},
                                                        {"workload deleted", 2},
                                                        {"made anew", 4}}};

std::string ValueOf(bool is_secret, std::uint64_t value) {
  return is_secret ? codec::EncodeBase64(kSecretMark + to_string(value)) : "v" + to_string(value);
}

std::string Quoted(const std::string& text) { return codec::JsonTree(text).ToJson(); }

}  // namespace

std::string_view ToString(Deed deed) { return kKnownDeeds[static_cast<std::size_t>(deed)].name; }

Crowd::Crowd(Admin admin, oracle::Oracle& oracle, oracle::Random random, Tell tell)
    : admin_(std::move(admin)), oracle_(oracle), random_(random), tell_(std::move(tell)) {
  for (const std::string& space : Spaces()) {
    const std::size_t first = sources_.size();
    for (std::size_t i = 0; i < kSourcesEach; ++i) {
      sources_.push_back({.is_secret = i < 2, .space = space, .name = "s" + to_string(i)});
    }
    for (std::size_t i = 0; i < kWorkloadsEach; ++i) {
      Workload workload{.kind = i < 2 ? kDeployment : i - 1, .space = space};
      workload.name = "w" + to_string(i);
      for (std::size_t source = first; source < sources_.size(); ++source) {
        if (source == first + i % kSourcesEach || random_.Chance(400)) {
          workload.sources.push_back(source);
        }
      }
      workloads_.push_back(std::move(workload));
    }
  }
}

std::vector<std::string> Crowd::Spaces() {
  std::vector<std::string> spaces;
  for (int i = 0; i < kSpaces; ++i) {
    spaces.push_back("faults-" + to_string(i));
  }
  return spaces;
}

std::string Crowd::PathOf(const Source& source) {
  return "/api/v1/namespaces/" + source.space + (source.is_secret ? "/secrets" : "/configmaps");
}

std::string Crowd::PathOf(const Workload& workload) {
  return "/apis/apps/v1/namespaces/" + workload.space + "/" + std::string(kPlurals[workload.kind]);
}

std::string Crowd::KeyOf(const Workload& workload) {
  return std::string(kPlurals[workload.kind]) + "/" + workload.space + "/" + workload.name;
}

std::string Crowd::BodyOf(const Workload& workload) const {
  std::string copied;
  if (!workload.baseline.empty()) {
    copied = R"(,"reloader.kubexx.io/baseline":)" + Quoted(workload.baseline);
  }
  std::string from;
  for (const std::size_t index : workload.sources) {
    const Source& source = sources_[index];
    from += (from.empty() ? "" : ",") +
            std::string(source.is_secret ? R"({"secretRef":{"name":")"
                                         : R"({"configMapRef":{"name":")") +
            source.name + R"("}})";
  }
  return R"({"metadata":{"name":")" + workload.name +
         R"(","annotations":{"reloader.stakater.com/auto":"true")" + copied + "}},\"spec\":{" +
         (workload.kind == kDaemonSet ? "" : R"("replicas":2,)") +
         (workload.kind == kStatefulSet ? R"("serviceName":"service",)" : "") +
         R"("selector":{"matchLabels":{"app":")" + workload.name +
         R"("}},"template":{"metadata":{"labels":{"app":")" + workload.name +
         R"("}},"spec":{"containers":[{"name":"main","image":"image:)" +
         to_string(workload.release) + R"(","envFrom":[)" + from + "]}]}}}}";
}

void Crowd::Put(Source& source, const std::stop_token& stop) {
  source.former = std::exchange(source.value, next_value_++);
  source.there = true;
  source.paused = false;
  admin_.Insist({.method = "POST",
                 .path = PathOf(source),
                 .body = R"({"metadata":{"name":")" + source.name + R"("},"data":{"key":")" +
                         ValueOf(source.is_secret, source.value) + R"("}})"},
                stop);
}

void Crowd::Put(Workload& workload, const std::stop_token& stop) {
  workload.there = true;
  workload.paused = false;
  admin_.Insist({.method = "POST", .path = PathOf(workload), .body = BodyOf(workload)}, stop);
}

void Crowd::Edit(Source& source, std::uint64_t value, const std::stop_token& stop) {
  if (!source.there) {
    Put(source, stop);
    return;
  }
  source.former = std::exchange(source.value, value);
  admin_.Insist(
      {.method = "PATCH",
       .path = PathOf(source) + "/" + source.name,
       .body = R"({"data":{"key":")" + ValueOf(source.is_secret, source.value) + R"("}})"},
      stop);
}

void Crowd::Touch(const Source& source, const std::stop_token& stop) {
  admin_.Insist(
      {.method = "PATCH",
       .path = PathOf(source) + "/" + source.name,
       .body = R"({"metadata":{"labels":{"touched":")" + to_string(next_value_++) + R"("}}})",
       .manager = "labeller"},
      stop);
}

void Crowd::Pause(Source& source, bool on, const std::stop_token& stop) {
  source.paused = on;
  admin_.Insist({.method = "PATCH",
                 .path = PathOf(source) + "/" + source.name,
                 .body = R"({"metadata":{"annotations":{"reloader.kubexx.io/paused":)" +
                         std::string(on ? R"("true")" : "null") + "}}}"},
                stop);
}

void Crowd::Pause(Workload& workload, bool on, const std::stop_token& stop) {
  workload.paused = on;
  admin_.Insist({.method = "PATCH",
                 .path = PathOf(workload) + "/" + workload.name,
                 .body = R"({"metadata":{"annotations":{")" + std::string(oracle::kHeldAnnotation) +
                         R"(":)" + (on ? R"("true")" : "null") + R"(}},"spec":{"paused":)" +
                         (on ? "true" : "null") + "}}",
                 .manager = "kubectl-rollout"},
                stop);
}

void Crowd::Release(Workload& workload, const std::stop_token& stop) {
  ++workload.release;
  admin_.Insist(
      {.method = "PATCH",
       .path = PathOf(workload) + "/" + workload.name,
       .body = R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"image:)" +
               to_string(workload.release) + R"("}]}}}})",
       .manager = "release-tool"},
      stop);
}

// As kubectl does it, with the annotations of the revision for a Deployment. Once only: a second
// try would undo what came after the first, which may have succeeded.
void Crowd::Undo(const Workload& workload, const std::stop_token& stop) {
  const auto former = oracle_.FormerOf(KeyOf(workload));
  auto annotations = former ? codec::JsonTree::Parse(former->annotations)
                            : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  if (!former || !annotations) {
    return;
  }
  Change change{.method = "PATCH",
                .path = PathOf(workload) + "/" + workload.name,
                .body = {},
                .manager = "kubectl"};
  const std::string mark = oracle::kUndoMark + ("-" + to_string(next_value_++));
  if (workload.kind == kDeployment) {
    (*annotations)[oracle::kMarkAnnotation] = mark;
    change.patch = rest::PatchType::kJson;
    change.body = R"([{"op":"replace","path":"/spec/template","value":)" + former->pod_template +
                  R"(},{"op":"replace","path":"/metadata/annotations","value":)" +
                  annotations->ToJson() + "}]";
  } else {
    change.body = R"({"metadata":{"annotations":{")" + std::string(oracle::kMarkAnnotation) +
                  R"(":")" + mark + R"("}},"spec":{"template":{"$patch":"replace",)" +
                  former->pod_template.substr(1) + "}}";
  }
  (void)admin_.Try(change, stop);
}

std::string Crowd::BaselineAt(const std::string& path, const std::stop_token& stop) const {
  const auto object = codec::JsonTree::Parse(admin_.Get(path, stop));
  const codec::JsonTree* const text =
      object ? object->At({"metadata", "annotations", "reloader.kubexx.io/baseline"}) : nullptr;
  return text == nullptr || text->AsString() == nullptr ? "" : *text->AsString();
}

void Crowd::Delete(Source& source, const std::stop_token& stop) {
  source.there = false;
  admin_.Insist({.method = "DELETE", .path = PathOf(source) + "/" + source.name}, stop);
}

void Crowd::Delete(Workload& workload, const std::stop_token& stop) {
  const std::string path = PathOf(workload) + "/" + workload.name;
  workload.there = false;
  workload.baseline = random_.Chance(500) ? BaselineAt(path, stop) : "";
  admin_.Insist({.method = "DELETE", .path = path}, stop);
}

void Crowd::Begin(const std::stop_token& stop) {
  for (const std::string& space : Spaces()) {
    admin_.Insist({.method = "POST",
                   .path = "/api/v1/namespaces",
                   .body = R"({"metadata":{"name":")" + space + R"("}})"},
                  stop);
  }
  for (Source& source : sources_) {
    Put(source, stop);
  }
  for (Workload& workload : workloads_) {
    Put(workload, stop);
  }
}

Deed Crowd::Choose() {
  std::uint64_t sum = 0;
  for (const KnownDeed& known : kKnownDeeds) {
    sum += known.weight;
  }
  std::uint64_t left = random_.Below(sum);
  std::size_t chosen = 0;
  while (left >= kKnownDeeds[chosen].weight) {
    left -= kKnownDeeds[chosen++].weight;
  }
  return static_cast<Deed>(chosen);
}

void Crowd::Act(const std::stop_token& stop) {
  const Deed deed = Choose();
  Source& source = sources_[random_.Below(sources_.size())];
  Workload& workload = workloads_[random_.Below(workloads_.size())];
  tell_(std::string(ToString(deed)) + ": " + KeyOf(workload) + ", " + PathOf(source) + "/" +
        source.name);
  ++done_[deed];
  Do(deed, source, workload, stop);
}

void Crowd::Do(Deed deed, Source& source, Workload& workload, const std::stop_token& stop) {
  switch (deed) {
    case Deed::kEdit:
      return Edit(source, next_value_++, stop);
    case Deed::kEditUndo:
      return Edit(source, source.former == 0 ? next_value_++ : source.former, stop);
    case Deed::kBurst:
      for (std::uint64_t left = 2 + random_.Below(5); left > 0; --left) {
        Edit(sources_[random_.Below(sources_.size())], next_value_++, stop);
      }
      return;
    case Deed::kTouch:
      return source.there ? Touch(source, stop) : Put(source, stop);
    case Deed::kSourcePause:
      return source.there ? Pause(source, !source.paused, stop) : Put(source, stop);
    case Deed::kRollout:
      return workload.there && workload.kind == kDeployment
                 ? Pause(workload, !workload.paused, stop)
                 : Edit(source, next_value_++, stop);
    case Deed::kRelease:
      return workload.there ? Release(workload, stop) : Put(workload, stop);
    case Deed::kReleaseWithData: {
      Source& used = sources_[workload.sources[random_.Below(workload.sources.size())]];
      const bool data_first = random_.Chance(500);
      if (data_first) {
        Edit(used, next_value_++, stop);
      }
      workload.there ? Release(workload, stop) : Put(workload, stop);
      if (!data_first) {
        Edit(used, next_value_++, stop);
      }
      return;
    }
    case Deed::kUndo:
      if (!workload.there) {
        return Put(workload, stop);
      }
      // kubectl refuses to undo what is paused.
      return workload.paused ? Pause(workload, false, stop) : Undo(workload, stop);
    case Deed::kSourceDelete:
      return source.there ? Delete(source, stop) : Put(source, stop);
    case Deed::kWorkloadDelete:
      return workload.there ? Delete(workload, stop) : Put(workload, stop);
    case Deed::kMake:
      if (const auto gone = std::ranges::find(workloads_, false, &Workload::there);
          gone != workloads_.end()) {
        return Put(*gone, stop);
      }
      return source.there ? Edit(source, next_value_++, stop) : Put(source, stop);
  }
}

void Crowd::ResumeAll(const std::stop_token& stop) {
  for (Source& source : sources_) {
    if (source.there && source.paused) {
      Pause(source, false, stop);
    }
  }
  for (Workload& workload : workloads_) {
    if (workload.there && workload.paused) {
      Pause(workload, false, stop);
    }
  }
}

}  // namespace kubexx::faults
