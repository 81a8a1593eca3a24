// What people do to workloads.
#include <chrono>
#include <utility>

#include "kubexx/codec/json_tree.h"
#include "people.h"

namespace kubexx::simulation {

using std::to_string;

std::optional<std::string> People::CopyOf(const std::string& path, const std::stop_token& stop) {
  const auto answer = options_.client->Get().AbsPath(path).Do(stop);
  auto object = answer ? codec::JsonTree::Parse(answer->body)
                       : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  if (!object || object->Find("metadata") == nullptr || object->Find("spec") == nullptr) {
    return std::nullopt;
  }
  codec::JsonTree copy = codec::JsonTree::Object();
  for (const char* const kept : {"name", "annotations"}) {
    copy["metadata"][kept] = (*object)["metadata"][kept];
  }
  copy["spec"] = std::move((*object)["spec"]);
  return copy.ToJson();
}

void People::Release(Workload& workload, const std::stop_token& stop) {
  ++workload.release;
  Patch(PathOf(workload) + "/" + workload.name,
        R"({"metadata":{"annotations":{")" + std::string(oracle::kMarkAnnotation) + R"(":")" +
            NextMark("release") +
            R"("}},"spec":{"template":{"spec":{"containers":[{"name":"main","image":"image:)" +
            to_string(workload.release) + R"("}]}}}})",
        stop);
}

void People::ReleaseWithData(Workload& workload, const std::stop_token& stop) {
  Source& source = sources_[workload.sources[random_.Below(workload.sources.size())]];
  const bool data_first = random_.Chance(700);
  if (data_first) {
    Edit(source, next_value_++, stop);
  }
  Release(workload, stop);
  if (!data_first) {
    Edit(source, next_value_++, stop);
  }
}

void People::Replace(Workload& workload, const std::stop_token& stop) {
  const std::string path = PathOf(workload) + "/" + workload.name;
  if (!workload.pauses && random_.Chance(300)) {
    const auto copy = CopyOf(path, stop);
    Insist({.method = "DELETE", .path = path}, stop);
    if (copy) {
      return Insist({.method = "POST", .path = PathOf(workload), .body = *copy}, stop);
    }
  } else {
    workload.baseline = BaselineAt(path, stop);
    Insist({.method = "DELETE", .path = path}, stop);
  }
  Put(workload, stop);
}

void People::Undo(Workload& workload, const std::stop_token& stop) {
  const std::string plural(kWorkloadPlurals[workload.kind]);
  const auto former = options_.former(plural + "/" + workload.space + "/" + workload.name);
  auto annotations = former ? codec::JsonTree::Parse(former->annotations)
                            : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  if (!former || !annotations || !MayTrouble(workload)) {
    return;
  }
  Request request{
      .method = "PATCH", .path = PathOf(workload) + "/" + workload.name, .manager = "kubectl"};
  const std::string mark = NextMark(oracle::kUndoMark);
  if (workload.kind == kStatefulSet || workload.kind == kDaemonSet) {
    request.body = R"({"metadata":{"annotations":{")" + std::string(oracle::kMarkAnnotation) +
                   R"(":")" + mark + R"("}},"spec":{"template":{"$patch":"replace",)" +
                   former->pod_template.substr(1) + "}}";
  } else {
    // ReplicaSets keep the annotations, too.
    workload.opted_out = annotations->TextAt("reloader.stakater.com/auto") == "false";
    (*annotations)[oracle::kMarkAnnotation] = mark;
    request.patch = rest::PatchType::kJson;
    request.body = R"([{"op":"replace","path":"/spec/template","value":)" + former->pod_template +
                   R"(},{"op":"replace","path":"/metadata/annotations","value":)" +
                   annotations->ToJson() + "}]";
  }
  Insist(request, stop);
  if (random_.Chance(500)) {  // what was bad is mended then
    Source& source = sources_[workload.sources[random_.Below(workload.sources.size())]];
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, 20000)), stop);
    Edit(source, source.former, stop);
  }
}

void People::OptOut(Workload& workload, const std::stop_token& stop) {
  if (!workload.opted_out) {
    Edit(sources_[workload.sources[random_.Below(workload.sources.size())]], next_value_++, stop);
    // A write for it may be on its way by then.
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, 1500)), stop);
  }
  workload.opted_out = !workload.opted_out;
  Patch(PathOf(workload) + "/" + workload.name,
        R"({"metadata":{"annotations":{"reloader.stakater.com/auto":")" +
            std::string(workload.opted_out ? "false" : "true") + R"("}}})",
        stop);
}

void People::Hold(Workload& workload, const std::stop_token& stop) {
  Request request{.method = "PATCH",
                  .path = PathOf(workload) + "/" + workload.name,
                  .body = R"({"metadata":{"annotations":{")" +
                          std::string(oracle::kHeldAnnotation) +
                          R"(":null}},"spec":{"paused":false}})",
                  .manager = "kubectl-rollout"};
  Insist(request, stop);  // `kubectl rollout pause` refuses what is paused
  workload.held = !workload.held;
  if (workload.held) {
    request.body = R"({"metadata":{"annotations":{")" + std::string(oracle::kHeldAnnotation) +
                   R"(":"true"}},"spec":{"paused":true}})";
    Insist(request, stop);
  }
}

}  // namespace kubexx::simulation
