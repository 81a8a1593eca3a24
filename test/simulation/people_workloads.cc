// What people do to workloads.
#include <chrono>
#include <utility>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "people.h"

namespace kubexx::simulation {

using std::to_string;

namespace {

/// The name of the annotation as a JSON patch has it in a path.
std::string EscapedMark() {
  std::string name(oracle::kMarkAnnotation);
  name.replace(name.find('/'), 1, "~1");
  return name;
}

}  // namespace

std::optional<std::string> People::CopyOf(const std::string& path, const std::stop_token& stop) {
  const auto answer = options_.client->Get().AbsPath(path).Do(stop);
  auto object = answer ? codec::JsonTree::Parse(answer->body)
                       : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  if (!object || object->Find("metadata") == nullptr || object->Find("spec") == nullptr) {
    return std::nullopt;
  }
  codec::JsonTree copy = codec::JsonTree::Object();
  for (const char* const kept : {"apiVersion", "kind"}) {
    copy[kept] = (*object)[kept];
  }
  for (const char* const kept : {"name", "annotations"}) {
    copy["metadata"][kept] = (*object)["metadata"][kept];
  }
  copy["spec"] = std::move((*object)["spec"]);
  return copy.ToJson();
}

void People::Release(Workload& workload, const std::stop_token& stop) {
  ++workload.release;
  if (workload.kind == kRollout && workload.base.empty()) {  // whose containers are not merged
    const std::string at = "/metadata/annotations/" + EscapedMark();
    Insist({.method = "PATCH",
            .path = PathOf(workload) + "/" + workload.name,
            .body = R"([{"op":"add","path":")" + at + R"(","value":")" + NextMark("release") +
                    R"("},{"op":"replace","path":"/spec/template/spec/containers/0/image",)"
                    R"("value":"image:)" +
                    to_string(workload.release) + R"("}])",
            .patch = rest::PatchType::kJson},
           stop);
    return;
  }
  Patch(TemplatePathOf(workload),
        R"({"metadata":{"annotations":{")" + std::string(oracle::kMarkAnnotation) + R"(":")" +
            NextMark("release") +
            R"("}},"spec":{"template":{"spec":{"containers":[{"name":"main","image":"image:)" +
            to_string(workload.release) + R"("}]}}}})",
        stop);
}

void People::EndJob(const std::stop_token& stop) {
  std::vector<const Workload*> jobs;
  for (const Workload& workload : workloads_) {
    if (workload.there && workload.kind == kJob) {
      jobs.push_back(&workload);
    }
  }
  if (!jobs.empty()) {
    const Workload& job = *jobs[random_.Below(jobs.size())];
    if (random_.Chance(700)) {  // just when an operator is about to make it anew
      Edit(sources_[job.sources[random_.Below(job.sources.size())]], next_value_++, stop);
      base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, 1500)), stop);
    }
    Patch(PathOf(job) + "/" + job.name + "/status",
          R"({"status":{"succeeded":1,"startTime":"2024-01-01T00:00:00Z",)"
          R"("completionTime":"2024-01-01T00:00:01Z","conditions":[)"
          R"({"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}})",
          stop);
  }
}

void People::ReleaseWithData(Workload& workload, const std::stop_token& stop) {
  Source& source = sources_[workload.sources[random_.Below(workload.sources.size())]];
  if (source.there && random_.Chance(300)) {  // with data that are taken back at once
    const std::uint64_t value = source.value;
    Edit(source, next_value_++, stop);
    Release(workload, stop);
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, 500)), stop);
    return Edit(source, value, stop);
  }
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
  // A copy of a Job would have the old one's selector.
  const bool as_a_whole = !workload.pauses && workload.kind != kJob && random_.Chance(300);
  const auto copy = as_a_whole ? CopyOf(path, stop) : std::nullopt;
  if (!as_a_whole) {
    workload.baseline = BaselineAt(path, stop);
  }
  if (!Remove(workload, stop)) {
    return;
  }
  if (copy) {
    Insist({.method = "POST", .path = PathOf(workload), .body = *copy}, stop);
  } else {
    Put(workload, stop);
  }
}

void People::Undo(Workload& workload, bool mend, const std::stop_token& stop) {
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
  } else if (workload.kind == kRollout) {
    request.manager = "kubectl-argo-rollouts";
    request.patch = rest::PatchType::kJson;
    request.body = R"([{"op":"replace","path":"/spec/template","value":)" + former->pod_template +
                   R"(},{"op":"add","path":"/metadata/annotations/)" + EscapedMark() +
                   R"(","value":")" + mark + R"("}])";
  } else {
    // ReplicaSets keep the annotations, too.
    workload.opted_out = annotations->TextAt("reloader.stakater.com/auto") == "false";
    workload.on_hold = annotations->TextAt("reloader.kubexx.io/paused") == "true";
    (*annotations)[oracle::kMarkAnnotation] = mark;
    request.patch = rest::PatchType::kJson;
    request.body = R"([{"op":"replace","path":"/spec/template","value":)" + former->pod_template +
                   R"(},{"op":"replace","path":"/metadata/annotations","value":)" +
                   annotations->ToJson() + "}]";
  }
  Insist(request, stop);
  if (mend) {  // what was bad
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, 20000)), stop);
    if (const auto data = FormerData(workload, former->pod_template)) {
      return Edit(sources_[data->source], data->value, stop);
    }
    Source& source = sources_[workload.sources[random_.Below(workload.sources.size())]];
    Edit(source, source.former, stop);
  }
}

void People::OptOut(Workload& workload, const std::stop_token& stop) {
  if (NamesObjects(workload) || !workload.others.empty()) {
    return;  // for which nobody asks by `auto`
  }
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
  if (!workload.held && random_.Chance(700)) {  // takes a pause over that an operator has begun
    Edit(sources_[workload.sources[random_.Below(workload.sources.size())]], next_value_++, stop);
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(500, 8000)), stop);
  }
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
    // A rollout that comes during a person's pause must not make it the operator's.
    Edit(sources_[workload.sources[random_.Below(workload.sources.size())]], next_value_++, stop);
  }
}

void People::Strip(Workload& workload, const std::stop_token& stop) {
  if (MayTrouble(workload)) {
    Patch(PathOf(workload) + "/" + workload.name,
          R"({"metadata":{"annotations":{"reloader.kubexx.io/baseline":null}}})", stop);
  }
}

void People::StripOne(const std::stop_token& stop) {
  Workload& workload = workloads_[random_.Below(workloads_.size())];
  if (workload.there && !IsIn(options_.without, Act::kStrip)) {
    Strip(workload, stop);
  }
}

void People::ReleaseInBetween(bool unseen, const std::stop_token& stop) {
  Workload& workload = workloads_[random_.Below(workloads_.size())];
  Source& source = sources_[workload.sources[random_.Below(workload.sources.size())]];
  if (!workload.there || !HasTemplate(workload) || !source.there ||
      IsIn(options_.without, Act::kRelease)) {
    return;
  }
  const auto pause = [&] {
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, 3000)), stop);
  };
  const std::uint64_t value = source.value;
  const bool edits = random_.Chance(unseen ? 700 : 300) && !IsIn(options_.without, Act::kTakeBack);
  const bool scales = !edits && workload.kind != kDaemonSet && workload.base.empty() &&
                      random_.Chance(350) && !IsIn(options_.without, Act::kScale);
  if (edits) {
    Edit(source, next_value_++, stop);
    pause();
  }
  if (scales) {
    ScaleAs("", workload, stop);
  } else {
    Release(workload, stop);
  }
  pause();
  if (edits) {
    Edit(source, value, stop);
  } else {
    DoTo(source, Act::kTouch, stop);
  }
}

void People::EditSome(const std::stop_token& stop) {
  if (IsIn(options_.without, Act::kEdit)) {
    return;
  }
  for (std::uint64_t i = 0; i <= random_.Below(3); ++i) {
    Edit(sources_[random_.Below(sources_.size())], next_value_++, stop);
  }
}

}  // namespace kubexx::simulation
