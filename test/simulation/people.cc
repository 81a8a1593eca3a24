#include "people.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::simulation {
namespace {

using std::to_string;

/// Of a thousand things that are done, how many are of each kind, in the order of Act.
constexpr std::array<std::uint16_t, kActs> kWeights = {270, 75, 60, 30, 60, 60, 60, 35, 30,
                                                       30,  35, 25, 20, 10, 20, 20, 10, 30,
                                                       20,  20, 20, 20, 25, 15, 60};

/// So many in two hours are no fight yet.
constexpr int kMostTroubles = 2;
constexpr base::Duration kTroubleInterval = std::chrono::hours(2);

constexpr int kMostSpaces = 3;
constexpr int kSourcesEach = 3;
constexpr int kDeploymentsEach = 3;

/// So many of the values that a source has had are remembered.
constexpr std::size_t kMostValues = 6;

}  // namespace

std::string_view ToString(Act act) {
  static constexpr std::array<std::string_view, kActs> kNames = {"edit",
                                                                 "take back",
                                                                 "touch",
                                                                 "pause",
                                                                 "edit many",
                                                                 "release",
                                                                 "release with data",
                                                                 "delete source",
                                                                 "delete workload",
                                                                 "replace",
                                                                 "make anew",
                                                                 "undo",
                                                                 "opt out",
                                                                 "strip",
                                                                 "hold",
                                                                 "policy",
                                                                 "optional types",
                                                                 "rotate",
                                                                 "end job",
                                                                 "restart",
                                                                 "release twice",
                                                                 "put on hold",
                                                                 "edit other key",
                                                                 "scale",
                                                                 "break"};
  return kNames[static_cast<std::size_t>(act)];
}

People::People(Options options, oracle::Random random, Timeline& timeline)
    : options_(std::move(options)), random_(random), timeline_(timeline) {
  const bool has_objects = HasObjects();
  const std::int64_t spaces = random_.Between(HasOthers() ? 2 : 1, kMostSpaces);
  for (std::int64_t s = 0; s < spaces; ++s) {
    const std::string& space = spaces_.emplace_back("space-" + to_string(s));
    const std::size_t first = sources_.size();
    for (int i = 0; i < kSourcesEach; ++i) {
      sources_.push_back({.is_secret = i == 0,
                          .is_object = has_objects && i == 1,
                          .space = space,
                          .name = "s" + to_string(i)});
    }
    const std::int64_t deployments = random_.Between(1, kDeploymentsEach);
    for (std::int64_t i = 0; i < deployments; ++i) {
      Workload workload{.kind = random_.Chance(450) ? 0 : random_.Below(kWorkloadPlurals.size()),
                        .space = space,
                        .name = "d" + to_string(i)};
      if (workload.kind == kRollout && !options_.argo) {
        workload.kind = kDeployment;
      }
      // A CronJob's runs are told nowhere else, and a Job's predecessor is not there any more.
      workload.unrecorded =
          HasTemplate(workload) && options_.some_unrecorded && random_.Chance(200);
      if (workload.kind == kRollout && random_.Chance(500)) {
        workload.base = workload.name + "-base";
      }
      workload.pauses = workload.kind == kDeployment && random_.Chance(200);
      workload.by_key = random_.Chance(250);
      // Of pods that are made when somebody resumes their Deployment the driver knows nothing.
      workload.mounts = options_.rotate != nullptr && HasTemplate(workload) && !workload.pauses &&
                        random_.Chance(600);
      workload.in_place = options_.in_place && HasTemplate(workload) && workload.kind != kRollout &&
                          !workload.unrecorded && !workload.pauses && !workload.by_key &&
                          !workload.mounts && random_.Chance(600);
      workload.has_both = workload.in_place && random_.Chance(500);
      for (std::size_t source = first; source < sources_.size(); ++source) {
        if (source == first + static_cast<std::size_t>(i) % kSourcesEach || random_.Chance(500)) {
          workload.sources.push_back(source);
        }
      }
      // What the template of a Deployment names rolls the Deployment, too, and not only the
      // Rollout.
      if (!workload.base.empty() && NamesObjects(workload)) {
        std::erase_if(workload.sources,
                      [this](std::size_t source) { return sources_[source].is_object; });
        workload.sources.insert(workload.sources.begin(), first);
        workload.sources.erase(std::unique(workload.sources.begin(), workload.sources.end()),
                               workload.sources.end());
      }
      workload.in_place = workload.in_place && !NamesObjects(workload);
      workload.has_both = workload.has_both && workload.in_place;
      workloads_.push_back(std::move(workload));
    }
  }
  if (HasOthers()) {
    ChooseOthers();
  }
}

bool People::Insist(const Request& asked, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    rest::Request request = asked.method == "PATCH" ? options_.client->Patch(asked.patch)
                                                    : options_.client->Verb(asked.method);
    request.AbsPath(asked.path);
    if (asked.manager[0] != '\0') {
      request.Param("fieldManager", asked.manager);
    }
    if (!asked.body.empty()) {
      request.Body(codec::Encoding::kJson, asked.body);
    }
    const auto answer = request.Do(stop);
    const int code = answer ? answer->code : answer.error().code;
    if (answer || (code >= 400 && code < 500 && code != 429)) {
      timeline_.Add(asked.method + " " + asked.path +
                    (answer ? "" : ": " + answer.error().ToString()));
      return answer.has_value();
    }
    base::Clock::Real().SleepFor(std::chrono::milliseconds(200), stop);
  }
  return false;
}

void People::Put(Source& source, const std::stop_token& stop) {
  SetValue(source, next_value_++);
  source.there = true;
  source.paused = false;
  source.allowed = true;
  Insist({.method = "POST", .path = PathOf(source), .body = BodyOf(source, false)}, stop);
}

bool People::Remove(const Workload& workload, const std::stop_token& stop) {
  const std::string path = PathOf(workload) + "/" + workload.name;
  if (workload.kind == kJob &&
      !Insist({.method = "PATCH",
               .path = path,
               .body = R"({"metadata":{"annotations":{")" + std::string(oracle::kMarkAnnotation) +
                       R"(":")" + NextMark(oracle::kDeleteMark) + R"("}}})"},
              stop)) {
    return false;  // an operator is about to make it anew
  }
  // As kubectl does; by default the Job would wait for a controller that leaves its pods alone.
  Insist({.method = "DELETE",
          .path = path,
          .body = workload.kind == kJob ? R"({"propagationPolicy":"Background"})" : ""},
         stop);
  return true;
}

void People::Put(Workload& workload, const std::stop_token& stop) {
  workload.there = IsServed(workload);
  if (!workload.there) {
    return;
  }
  workload.opted_out = false;
  workload.on_hold = false;
  workload.held = false;
  if (!workload.base.empty()) {  // it may be there: only the Rollout is ever deleted
    std::string all = TemplatePathOf(workload);
    all.resize(all.rfind('/'));
    Insist({.method = "POST", .path = all, .body = BaseBodyOf(workload)}, stop);
  }
  Insist({.method = "POST", .path = PathOf(workload), .body = BodyOf(workload)}, stop);
}

void People::SetValue(Source& source, std::uint64_t value) {
  source.former = std::exchange(source.value, value);
  source.values.push_back(value);
  if (source.values.size() > kMostValues) {
    source.values.pop_front();
  }
}

void People::Edit(Source& source, std::uint64_t value, const std::stop_token& stop) {
  if (!source.there) {
    Put(source, stop);
    return;
  }
  SetValue(source, value);
  Patch(PathOf(source) + "/" + source.name,
        R"({"data":{"key":")" + ValueOf(source.is_secret, source.value) + R"("}})", stop);
}

std::string People::BaselineAt(const std::string& path, const std::stop_token& stop) {
  const auto answer = options_.client->Get().AbsPath(path).Do(stop);
  const auto object = answer ? codec::JsonTree::Parse(answer->body)
                             : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  const codec::JsonTree* const text =
      object ? object->At({"metadata", "annotations", "reloader.kubexx.io/baseline"}) : nullptr;
  return text == nullptr || text->AsString() == nullptr ? "" : *text->AsString();
}

void People::Begin(const std::stop_token& stop) {
  std::vector<std::string> all = spaces_;
  all.emplace_back(kOperatorSpace);
  for (const std::string& space : all) {
    Insist({.method = "POST",
            .path = "/api/v1/namespaces",
            .body = R"({"metadata":{"name":")" + space + R"("}})"},
           stop);
  }
  MakeRoles(stop);
  SetRights(true, stop);
  if (options_.policies) {
    Install(OptionalApi::kPolicies, stop);
  }
  if (options_.argo) {
    Install(OptionalApi::kArgo, stop);
  }
  if (options_.rotate) {
    Install(OptionalApi::kCsi, stop);
  }
  if (options_.openshift) {
    Install(OptionalApi::kOpenShift, stop);
  }
  if (HasObjects()) {
    Install(OptionalApi::kObjects, stop);
  }
  for (Source& source : sources_) {
    Put(source, stop);
  }
  for (Workload& workload : workloads_) {
    Put(workload, stop);
  }
}

Act People::Choose() {
  std::uint64_t draw = random_.Below(1000);
  for (std::size_t i = 0; i < kActs; ++i) {
    if (draw < kWeights[i]) {
      return static_cast<Act>(i);
    }
    draw -= kWeights[i];
  }
  return Act::kEdit;
}

bool People::MayTrouble(Workload& workload) {
  const base::TimePoint now = base::Clock::Real().Now();
  if (now - workload.quiet_since > kTroubleInterval) {
    workload.quiet_since = now;
    workload.troubles = 0;
  }
  return ++workload.troubles <= kMostTroubles;
}

void People::Do(const std::stop_token& stop) {
  const Act act = Choose();
  Source& source = sources_[random_.Below(sources_.size())];
  Workload& workload = workloads_[random_.Below(workloads_.size())];
  if (!IsIn(options_.without, act)) {
    Do(act, source, workload, stop);
  }
}

void People::Do(Act act, Source& source, Workload& workload, const std::stop_token& stop) {
  switch (act) {
    case Act::kEdit:
      return Edit(source, next_value_++, stop);
    case Act::kTakeBack:
      return Edit(source, source.former, stop);
    case Act::kEditMany:
      for (std::uint64_t i = 0; i <= random_.Below(6); ++i) {
        Edit(sources_[random_.Below(sources_.size())], next_value_++, stop);
      }
      return;
    case Act::kMakeAnew:
      return MakeAnew(stop);
    case Act::kPolicy:
      return options_.policies ? ChangePolicy(source.space, stop) : void();
    case Act::kOptional:
      return ChangeOptional(stop);
    case Act::kEndJob:
      return EndJob(stop);
    case Act::kRotate:
      return options_.rotate ? options_.rotate(source.space) : void();
    case Act::kBreak:
      return Break(SourceForWaves(), stop);
    case Act::kEditOther:
      return source.there ? EditOther(source, stop) : void();
    case Act::kTouch:
    case Act::kPause:
      if (source.there && HasOthers() && random_.Chance(500)) {
        return Allow(source, stop);
      }
      [[fallthrough]];
    case Act::kDeleteSource:
      return source.there ? DoTo(source, act, stop) : void();
    default:
      break;
  }
  if (!workload.there) {
    return;
  }
  const bool has_pods = HasTemplate(workload);
  switch (act) {
    case Act::kRelease:
      return has_pods ? Release(workload, stop) : void();
    case Act::kReleaseWithData:
      return has_pods ? ReleaseWithData(workload, stop) : void();
    case Act::kDeleteWorkload:
      workload.baseline =
          random_.Chance(500) ? BaselineAt(PathOf(workload) + "/" + workload.name, stop) : "";
      workload.there = !Remove(workload, stop);
      return;
    case Act::kReplace:
      return Replace(workload, stop);
    case Act::kUndo:
      // kubectl undoes nothing that is paused.
      return has_pods && !workload.pauses && !workload.in_place && workload.base.empty()
                 ? Undo(workload, random_.Chance(500), stop)
                 : void();
    case Act::kHold:
      return workload.pauses ? Hold(workload, stop) : void();
    case Act::kOptOut:
      return OptOut(workload, stop);
    case Act::kStrip:
      return Strip(workload, stop);
    case Act::kRestart:
      return has_pods ? Restart(workload, stop) : void();
    case Act::kReleaseTwice:
      return has_pods ? ReleaseTwice(workload, stop) : void();
    case Act::kPutOnHold:
      return has_pods && workload.base.empty() ? PutOnHold(workload, stop) : void();
    case Act::kScale:
      return has_pods && workload.kind != kDaemonSet ? Scale(workload, stop) : void();
    default:
      return;
  }
}

void People::DoTo(Source& source, Act act, const std::stop_token& stop) {
  const std::string path = PathOf(source) + "/" + source.name;
  if (act == Act::kTouch) {
    // A label of whoever writes the data moves the time at which the data were written, too.
    const std::uint64_t value = next_value_++;
    Insist({.method = "PATCH",
            .path = path,
            .body = R"({"metadata":{"labels":{"touched":")" + to_string(value) + R"("}}})",
            .manager = value % 2 == 0 ? "kubectl-label" : ""},
           stop);
  } else if (act == Act::kPause) {
    source.paused = !source.paused;
    Patch(path,
          R"({"metadata":{"annotations":{"reloader.kubexx.io/paused":)" +
              std::string(source.paused ? R"("true")" : "null") + "}}}",
          stop);
  } else {
    source.there = false;
    Insist({.method = "DELETE", .path = path}, stop);
  }
}

void People::MakeAnew(const std::stop_token& stop) {
  for (Workload& workload : workloads_) {
    if (!workload.there && IsServed(workload)) {
      return Put(workload, stop);
    }
  }
  for (Source& source : sources_) {
    if (!source.there) {
      return Put(source, stop);
    }
  }
}

}  // namespace kubexx::simulation
