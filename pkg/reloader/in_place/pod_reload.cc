#include "kubexx/reloader/in_place/pod_reload.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
using apimachinery::Reason;
using apimachinery::Result;

/// A container that is being started says so in its status before long.
constexpr base::Duration kUntilStarted = std::chrono::seconds(1);
/// As kubectl exec takes it.
constexpr std::string_view kDefaultContainer = "kubectl.kubernetes.io/default-container";
/// So that the output has room in PodAccess::kMaxOutputBytes, and the command in a URL.
constexpr std::size_t kFilesAtATime = 256;
/// What runtimes and shells return for a program that is not there, or is none.
constexpr int kNotExecutable = 126;
constexpr int kNoProgram = 127;

const core::ContainerStatus* ContainerStatusOf(const core::Pod& pod, const std::string& container) {
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    const auto found = std::ranges::find(*statuses, container, &core::ContainerStatus::name);
    if (found != statuses->end()) {
      return &*found;
    }
  }
  return nullptr;
}

bool RunsNow(const core::Pod& pod, const std::string& container) {
  const core::ContainerStatus* status = ContainerStatusOf(pod, container);
  return status != nullptr && status->state.running;
}

bool IsPodReady(const core::Pod& pod) {
  return std::ranges::any_of(pod.status.conditions, [](const core::PodCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

bool IsPodOver(const core::Pod& pod, const std::string& uid) {
  return pod.metadata.uid != uid || pod.metadata.deletion_timestamp.has_value() ||
         pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

/// Whether an action that failed like this has an answer: of the program, of its container, or that
/// there was none in time. Otherwise it may not even have arrived.
bool IsAnswer(const apimachinery::Status& failure) {
  return failure.reason == Reason::kInvalid || failure.reason == Reason::kBadRequest ||
         failure.reason == Reason::kTimeout;
}

PodReload::Outcome FailedWith(std::string why) {
  return {.progress = PodReload::Progress::kFailed, .why = std::move(why)};
}

}  // namespace

Result<std::string> ContainerFor(const core::Pod& pod, const ReloadAction& action) {
  std::string container = action.container;
  if (container.empty()) {
    const std::string* annotated = Find(pod.metadata.annotations, kDefaultContainer);
    container = annotated != nullptr          ? *annotated
                : pod.spec.containers.empty() ? std::string()
                                              : pod.spec.containers.front().name;
  }
  const auto has = [&](const std::vector<core::Container>& containers) {
    return std::ranges::find(containers, container, &core::Container::name) != containers.end();
  };
  if (!has(pod.spec.containers) && !has(pod.spec.init_containers)) {
    return apimachinery::Fail(Reason::kInvalid, "there is no container " + container);
  }
  if (action.kind == ReloadAction::Kind::kSignal &&
      (pod.spec.host_pid || pod.spec.share_process_namespace.value_or(false))) {
    return apimachinery::Fail(
        Reason::kInvalid, "its containers share their processes, so process 1 is not container " +
                              container + "'s own");
  }
  return container;
}

PodReload::PodReload(Input input)
    : input_(std::move(input)),
      look_(input_.times.first_look),
      outage_(input_.times.outage, input_.times.denied) {}

PodReload::Outcome PodReload::Step(PodAccess& access, const base::Clock& clock,
                                   const std::stop_token& stop) {
  files_by_ = files_by_.value_or(clock.Now() + input_.times.files);
  const auto pod = access.Get(input_.pod, stop);
  if (!pod && apimachinery::IsObjectNotFound(pod.error())) {
    return {.progress = Progress::kGone};
  }
  if (!pod) {
    return Stumble(pod.error(), "the pod cannot be read", clock.Now());
  }
  if (IsPodOver(*pod, input_.uid)) {
    return {.progress = Progress::kGone};
  }
  if (stage_ == Stage::kFiles) {
    return AwaitFiles(access, *pod, clock, stop);
  }
  outage_.End(clock.Now());
  return AwaitReady(*pod, clock.Now());
}

PodReload::Outcome PodReload::AwaitFiles(PodAccess& access, const core::Pod& pod,
                                         const base::Clock& clock, const std::stop_token& stop) {
  if (const base::TimePoint now = clock.Now(); !asked_ || now - *asked_ >= input_.times.ask_again) {
    const auto asked = access.WantFiles(
        input_.pod, input_.uid, apimachinery::MicroTime::From(clock.Wall()).ToString(), stop);
    if (!asked && (apimachinery::IsObjectNotFound(asked.error()) ||
                   asked.error().reason == Reason::kConflict)) {
      return {.progress = Progress::kGone};
    }
    if (!asked) {
      return Stumble(asked.error(), "the pod cannot be annotated", clock.Now());
    }
    asked_ = now;
  }
  const bool all_run = std::ranges::all_of(
      input_.checks, [&](const MountCheck& check) { return RunsNow(pod, check.container); });
  if (!all_run || !RunsNow(pod, input_.container)) {
    outage_.End(clock.Now());
    return IsLate(clock.Now()) ? FailedWith("its containers do not run in time")
                               : Outcome{.after = kUntilStarted};
  }
  const auto has_files = HasFiles(access, stop);
  if (!has_files) {
    return Stumble(has_files.error(), "the files cannot be looked at", clock.Now());
  }
  if (*has_files) {
    return Act(access, clock, stop);
  }
  return AwaitMore(pod, clock.Now(), stop);
}

PodReload::Outcome PodReload::AwaitMore(const core::Pod& pod, base::TimePoint now,
                                        const std::stop_token& stop) {
  checked_ = checked_.value_or(now);
  if (input_.check_anew && now - *checked_ >= input_.times.check_anew) {
    auto checks = input_.check_anew(pod, stop);
    if (!checks) {
      return Stumble(checks.error(), "the sources cannot be read", now);
    }
    input_.checks = *std::move(checks);
    checked_ = now;
  }
  outage_.End(now);
  return IsLate(now) ? FailedWith(missing_) : Outcome{.after = NextLook()};
}

bool PodReload::IsLate(base::TimePoint now) const { return now - outage_.Lost(now) >= *files_by_; }

Result<bool> PodReload::HasFiles(PodAccess& access, const std::stop_token& stop) {
  for (const MountCheck& check : input_.checks) {
    KX_ASSIGN_OR_RETURN(const bool has_files, HasFiles(access, check, stop));
    if (!has_files) {
      return false;
    }
  }
  return true;
}

Result<bool> PodReload::HasFiles(PodAccess& access, const MountCheck& check,
                                 const std::stop_token& stop) {
  missing_ = "the kubelet has not written the files in time";
  const auto fails = [this, &check](const std::string& program, const CommandEnd& end) {
    missing_ = program + " in container " + check.container + " ends with the exit code " +
               std::to_string(end.code) + ": a file is not there, or may not be read";
    return false;
  };
  const auto look = [&](const std::vector<std::string>& command) -> Result<CommandEnd> {
    KX_ASSIGN_OR_RETURN(CommandEnd end, access.Look(input_.pod, check.container, command, stop));
    if (end.code == kNoProgram || end.code == kNotExecutable) {
      return apimachinery::Fail(Reason::kInvalid,
                                "container " + check.container + " has no " + command.front());
    }
    return end;
  };
  for (std::size_t first = 0; first < check.files.size(); first += kFilesAtATime) {
    const auto begin = check.files.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(kFilesAtATime, check.files.size() - first);
    const MountCheck part{.files = {begin, begin + static_cast<std::ptrdiff_t>(count)}};
    std::vector<std::string> command{"sha256sum", "--"};
    for (const auto& [path, hash] : part.files) {
      command.push_back(check.directory + "/" + path);
    }
    KX_ASSIGN_OR_RETURN(const CommandEnd hashes, look(command));
    if (hashes.code != 0) {
      return fails("sha256sum", hashes);
    }
    if (!HasRightHashes(part, hashes.output)) {
      return false;
    }
  }
  KX_ASSIGN_OR_RETURN(const CommandEnd names, look({"ls", "-A1", "--", check.directory}));
  if (names.code != 0) {
    return fails("ls", names);
  }
  if (names.output.size() >= PodAccess::kMaxOutputBytes) {
    missing_ =
        check.directory + " in container " + check.container + " has more names than can be read";
    return false;
  }
  return HasRightNames(check, names.output);
}

PodReload::Outcome PodReload::Act(PodAccess& access, const base::Clock& clock,
                                  const std::stop_token& stop) {
  const auto done = access.RunAction(input_.pod, input_.container, input_.action, stop);
  if (!done) {
    return AfterAction(access, done.error(), clock.Now(), stop);
  }
  outage_.End(clock.Now());
  stage_ = Stage::kReady;
  acted_ = clock.Now();
  lost_until_acted_ = outage_.Lost(acted_);
  return {.after = input_.times.settle};
}

PodReload::Outcome PodReload::AfterAction(PodAccess& access, const apimachinery::Status& why,
                                          base::TimePoint now, const std::stop_token& stop) {
  if (why.reason == Reason::kCancelled) {
    return {.after = input_.times.longest_look};
  }
  const std::string what = input_.action.text + " failed";
  if (!IsAnswer(why)) {
    return Stumble(why, what, now);  // it does no harm when it is carried out twice
  }
  // The API server answers 404 or 503 for a pod that is gone.
  const auto pod = access.Get(input_.pod, stop);
  if (pod ? IsPodOver(*pod, input_.uid) : apimachinery::IsObjectNotFound(pod.error())) {
    return {.progress = Progress::kGone};
  }
  if (!pod) {
    return Stumble(pod.error(), "the pod cannot be read", now);
  }
  Outcome failed = FailedWith(what + ": " + why.message);
  failed.is_refused = why.reason == Reason::kBadRequest;
  return failed;
}

PodReload::Outcome PodReload::AwaitReady(const core::Pod& pod, base::TimePoint now) const {
  if (now - acted_ < input_.times.settle) {
    return {.after = input_.times.settle - (now - acted_)};
  }
  // A container that has ended for the action has the new files since it started again.
  if (RunsNow(pod, input_.container) && IsPodReady(pod)) {
    return {.progress = Progress::kDone};
  }
  const base::Duration lost = outage_.Lost(now) - lost_until_acted_;
  return now - acted_ - lost >= input_.times.ready
             ? FailedWith("the pod is not ready after " + input_.action.text)
             : Outcome{.after = input_.times.settle};
}

PodReload::Outcome PodReload::Stumble(const apimachinery::Status& status, const std::string& what,
                                      base::TimePoint now) {
  if (status.reason == Reason::kInvalid) {
    return FailedWith(status.message);
  }
  if (!outage_.Bears(status, now)) {
    return FailedWith(what + ": " + status.message);
  }
  return {.after = NextLook()};
}

base::Duration PodReload::NextLook() {
  return std::exchange(look_, std::min(look_ * 2, input_.times.longest_look));
}

}  // namespace kubexx::reloader
