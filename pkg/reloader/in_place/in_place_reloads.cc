#include "kubexx/reloader/in_place/in_place_reloads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/in_place/outage.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Result;

/// The kind of the keys of pods in the queue; those of workloads have the names of kinds.
constexpr char kPodKind[] = "Pod";

workqueue::Key KeyOfPod(const apimachinery::ObjectKey& pod) { return {kPodKind, pod}; }
workqueue::Key KeyOfReload(const WorkloadId& id) {
  return {std::string(KindName(id.kind)), id.key};
}

/// The sources that were read; std::nullopt: there is none of that name.
using ReadSources = std::map<SourceId, std::optional<KeyHashes>>;

/// Reads those of `wanted` that `sources` has not got yet.
Result<void> ReadHashes(PodAccess& access, const std::set<SourceId>& wanted, ReadSources& sources,
                        const std::stop_token& stop) {
  for (const SourceId& source : wanted) {
    if (!sources.contains(source)) {
      KX_ASSIGN_OR_RETURN(sources[source], access.HashesOf(source, stop));
    }
  }
  return {};
}

std::map<SourceId, KeyHashes> WithoutAbsent(const ReadSources& sources) {
  std::map<SourceId, KeyHashes> present;
  for (const auto& [source, hashes] : sources) {
    if (hashes) {
      present[source] = *hashes;
    }
  }
  return present;
}

/// What tells pods of different templates of one workload apart.
std::string TemplateOf(const api::core::v1::Pod& pod) {
  for (const char* label :
       {"pod-template-hash", "rollouts-pod-template-hash", "controller-revision-hash"}) {
    if (const std::string* hash = Find(pod.metadata.labels, label)) {
      return *hash;
    }
  }
  return {};
}

constexpr char kInPlaceHelp[] = "Reloads in place that have ended.";

}  // namespace

/// The reload of one workload. The worker that has its key uses what begins with `sources`; a
/// worker that has the key of a pod uses that pod's PodReload.
struct InPlaceReloads::Reload {
  Job job{};
  std::set<SourceId> wanted{};
  std::stop_source stop{};
  base::TimePoint begun{};
  ReadSources sources{};
  std::optional<Outage> outage{};                  ///< of lists and reads
  std::size_t misfits = 0;                         ///< see Listed
  std::optional<base::TimePoint> misfits_since{};  ///< since when they are no fewer
  // With the lock of InPlaceReloads.
  Report report{};
  std::string told{};                                        ///< see IsNews
  std::map<std::string, std::unique_ptr<PodReload>> pods{};  ///< by UID; null: reloaded
  base::TimePoint listed{};                                  ///< when the last list of pods began
};

InPlaceReloads::InPlaceReloads(Options options, PodAccess& access)
    : options_(std::move(options)),
      access_(access),
      queue_({.name = "in_place",
              .clock = options_.clock,
              .registry = options_.registry,
              .order = workqueue::Order::kFair,
              .fair = {.max_working_per_tenant = std::max(1, options_.threads * 3 / 4)}}) {
  if (options_.registry != nullptr) {
    metrics::Registry& registry = *options_.registry;
    done_ =
        registry.Counter("reloader_in_place_reloads_total", kInPlaceHelp, {{"result", "success"}});
    failed_ =
        registry.Counter("reloader_in_place_reloads_total", kInPlaceHelp, {{"result", "failed"}});
    pods_ = registry.Counter("reloader_in_place_pods_total",
                             "Pods whose programs have taken new data without a new pod.");
    running_ = registry.Gauge("reloader_in_place_running",
                              "Workloads whose pods are being reloaded in place.");
  }
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
  }
}

InPlaceReloads::~InPlaceReloads() { Stop(); }

void InPlaceReloads::Stop() {
  Leave([](const std::string&) { return true; });
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  queue_.ShutDown();
  threads_.clear();  // joins
}

void InPlaceReloads::Start(Job job) {
  const auto reload = std::make_shared<Reload>();
  reload->begun = options_.clock.Now();
  reload->report = {.state = State::kRunning,
                    .action = job.action,
                    .data = job.data,
                    .started = options_.clock.Wall()};
  for (const auto& [source, digest] : job.data) {
    reload->wanted.insert(source);
  }
  const WorkloadId id = job.workload;
  reload->job = std::move(job);
  {
    const base::MutexLock lock(mu_);
    Remove(id);
    reloads_[id] = reload;
    running_.Add(1);
  }
  queue_.Add(KeyOfReload(id));
}

InPlaceReloads::Report InPlaceReloads::Look(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = reloads_.find(workload);
  return found == reloads_.end() ? Report{} : found->second->report;
}

bool InPlaceReloads::IsNews(const WorkloadId& workload, const std::string& message) {
  const base::MutexLock lock(mu_);
  const auto found = reloads_.find(workload);
  return found != reloads_.end() && std::exchange(found->second->told, message) != message;
}

void InPlaceReloads::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  Remove(workload);
}

ReloadedData InPlaceReloads::Refused(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = refused_.find(workload);
  return found == refused_.end() ? ReloadedData{} : found->second;
}

void InPlaceReloads::ForgetRefused(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  refused_.erase(workload);
}

void InPlaceReloads::Leave(base::FunctionRef<bool(const std::string& namespace_)> left) {
  const base::MutexLock lock(mu_);
  std::vector<WorkloadId> all;
  for (const auto& [id, reload] : reloads_) {
    if (left(id.key.namespace_)) {
      all.push_back(id);
    }
  }
  for (const WorkloadId& id : all) {
    Remove(id);
  }
  std::erase_if(refused_, [&](const auto& each) { return left(each.first.key.namespace_); });
}

void InPlaceReloads::Remove(const WorkloadId& workload) {
  const auto found = reloads_.find(workload);
  if (found == reloads_.end()) {
    return;
  }
  if (found->second->report.state == State::kRunning) {
    running_.Add(-1);
  }
  found->second->stop.request_stop();
  reloads_.erase(found);
  std::erase_if(owners_, [&](const auto& owner) { return owner.second == workload; });
}

bool InPlaceReloads::IsCurrent(const ReloadPtr& reload) const {
  const auto found = reloads_.find(reload->job.workload);
  return found != reloads_.end() && found->second == reload &&
         reload->report.state == State::kRunning;
}

void InPlaceReloads::Work(const std::stop_token& stop) {
  for (auto item = queue_.Get(stop); item; item = queue_.Next(std::move(item), stop)) {
    if (item->kind == kPodKind) {
      StepPod(item->object, stop);
    } else if (const auto kind = ParseWorkloadKind(item->kind)) {
      ListPods({*kind, item->object}, stop);
    }
  }
}

void InPlaceReloads::ListPods(const WorkloadId& workload, const std::stop_token& stop) {
  ReloadPtr reload;
  {
    const base::MutexLock lock(mu_);
    const auto found = reloads_.find(workload);
    if (found == reloads_.end() || found->second->report.state != State::kRunning) {
      return;
    }
    reload = found->second;
    reload->listed = options_.clock.Now();
  }
  const std::stop_callback on_stop(stop, [&reload] { reload->stop.request_stop(); });
  auto listed = ListNew(*reload, reload->stop.get_token());
  if (!listed) {
    return TryAgain(reload, listed.error());
  }
  reload->outage.reset();
  if (listed->pods.empty() && !listed->has_more) {
    return End(reload, State::kDone, {});
  }
  for (PodReload::Input& input : listed->pods) {
    const apimachinery::ObjectKey pod = input.pod;
    {
      const base::MutexLock lock(mu_);
      if (!IsCurrent(reload)) {
        return;
      }
      owners_[pod] = workload;
      std::string uid = input.uid;
      reload->pods[std::move(uid)] = std::make_unique<PodReload>(std::move(input));
    }
    queue_.Add(KeyOfPod(pod));
  }
  if (listed->misfits > 0) {
    queue_.AddAfter(KeyOfReload(workload), options_.list_every);
  }
}

Result<InPlaceReloads::Listed> InPlaceReloads::ListNew(Reload& reload,
                                                       const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const auto pods, access_.PodsOf(reload.job.workload, reload.job.uid, stop));
  Listed listed;
  std::set<std::string> templates;
  std::optional<apimachinery::Status> why_misfit;
  for (const api::core::v1::Pod& pod : pods) {
    templates.insert(TemplateOf(pod));
    {
      const base::MutexLock lock(mu_);
      if (const auto known = reload.pods.find(pod.metadata.uid); known != reload.pods.end()) {
        listed.has_more = listed.has_more || known->second != nullptr;
        continue;
      }
    }
    if (pod.spec.node_name.empty()) {
      continue;  // no kubelet has read anything for it yet
    }
    auto input = InputFor(reload, pod, stop);
    if (!input && input.error().reason != Reason::kInvalid) {
      return apimachinery::Fail(input.error());
    }
    if (!input) {
      ++listed.misfits;
      why_misfit = why_misfit.value_or(input.error().WithContext("pod " + pod.metadata.name));
    } else if (*input) {
      listed.pods.push_back(**std::move(input));
    }
  }
  if (why_misfit && !(templates.size() > 1 && AwaitsRelease(reload, listed.misfits))) {
    return apimachinery::Fail(*why_misfit);
  }
  listed.has_more = listed.has_more || listed.misfits > 0;
  return listed;
}

bool InPlaceReloads::AwaitsRelease(Reload& reload, std::size_t misfits) const {
  const base::TimePoint now = options_.clock.Now();
  if (!reload.misfits_since || misfits < reload.misfits) {
    reload.misfits_since = now;
  }
  reload.misfits = misfits;
  return now - *reload.misfits_since < options_.times.files;
}

Result<std::optional<PodReload::Input>> InPlaceReloads::InputFor(Reload& reload,
                                                                 const api::core::v1::Pod& pod,
                                                                 const std::stop_token& stop) {
  const std::set<SourceId> used = SourcesUsedBy(pod, reload.wanted);
  if (used.empty()) {
    return std::nullopt;  // of an earlier template
  }
  KX_ASSIGN_OR_RETURN(const std::string container, ContainerFor(pod, reload.job.action));
  const std::set<SourceId> beside = SourcesBeside(pod, used);
  KX_RETURN_IF_ERROR(ReadHashes(access_, beside, reload.sources, stop));
  KX_ASSIGN_OR_RETURN(auto checks,
                      MountChecksFor(pod, container, used, WithoutAbsent(reload.sources)));
  PodReload::Input input{.pod = {pod.metadata.namespace_, pod.metadata.name},
                         .uid = pod.metadata.uid,
                         .action = reload.job.action,
                         .container = container,
                         .checks = std::move(checks),
                         .times = options_.times};
  if (beside != used) {
    input.check_anew = [&access = access_, used, container](
                           const api::core::v1::Pod& present,
                           const std::stop_token& stop_of_call) -> Result<std::vector<MountCheck>> {
      ReadSources sources;
      KX_RETURN_IF_ERROR(ReadHashes(access, SourcesBeside(present, used), sources, stop_of_call));
      return MountChecksFor(present, container, used, WithoutAbsent(sources));
    };
  }
  return input;
}

void InPlaceReloads::TryAgain(const ReloadPtr& reload, const apimachinery::Status& why) {
  // What does not depend on the moment is no better later.
  const bool is_hopeless = why.reason == Reason::kInvalid || apimachinery::IsObjectNotFound(why);
  if (!reload->outage) {
    reload->outage.emplace(options_.times.outage, options_.times.denied);
  }
  if (is_hopeless || !reload->outage->Bears(why, options_.clock.Now())) {
    return End(reload, State::kFailed, why.message);
  }
  queue_.AddAfter(KeyOfReload(reload->job.workload), options_.list_again);
}

void InPlaceReloads::StepPod(const apimachinery::ObjectKey& pod, const std::stop_token& stop) {
  ReloadPtr reload;
  PodReload* step = nullptr;
  {
    const base::MutexLock lock(mu_);
    const auto owner = owners_.find(pod);
    const auto found = owner == owners_.end() ? reloads_.end() : reloads_.find(owner->second);
    if (found == reloads_.end() || found->second->report.state != State::kRunning) {
      return;
    }
    reload = found->second;
    // One of that name may have taken the place of another.
    for (const auto& [uid, each] : reload->pods) {
      if (each != nullptr && each->pod() == pod) {
        step = each.get();
      }
    }
  }
  if (step == nullptr) {
    return;
  }
  const std::stop_callback on_stop(stop, [&reload] { reload->stop.request_stop(); });
  const PodReload::Outcome outcome = step->Step(access_, options_.clock, reload->stop.get_token());
  switch (outcome.progress) {
    case PodReload::Progress::kAgain:
      queue_.AddAfter(KeyOfPod(pod), outcome.after);
      return;
    case PodReload::Progress::kFailed:
      return End(reload, State::kFailed, "pod " + pod.name + ": " + outcome.why,
                 outcome.is_refused);
    case PodReload::Progress::kDone:
    case PodReload::Progress::kGone:
      break;
  }
  OnPodOver(reload, *step, outcome.progress == PodReload::Progress::kDone);
}

void InPlaceReloads::OnPodOver(const ReloadPtr& reload, const PodReload& pod, bool is_done) {
  const apimachinery::ObjectKey name = pod.pod();
  const std::string uid = pod.uid();
  bool has_follower = false;
  bool is_last = false;
  bool is_list_due = false;
  {
    const base::MutexLock lock(mu_);
    if (is_done) {
      ++reload->report.pods;
      pods_.Increment();
      reload->pods[uid] = nullptr;
    } else {
      reload->pods.erase(uid);
    }
    const auto& pods = reload->pods;
    has_follower = std::ranges::any_of(pods, [&name](const auto& each) {
      return each.second != nullptr && each.second->pod() == name;
    });
    is_last = std::ranges::all_of(pods, [](const auto& each) { return each.second == nullptr; });
    is_list_due = options_.clock.Now() - reload->listed >= options_.list_every;
  }
  if (has_follower) {
    queue_.Add(KeyOfPod(name));  // both have one key, whose turn was this one
  }
  if (!is_last && !is_list_due) {
    return;
  }
  if (is_done) {
    queue_.Add(KeyOfReload(reload->job.workload));  // there may be new pods, or all are done
  } else {
    queue_.AddAfter(KeyOfReload(reload->job.workload), options_.list_again);  // one may follow it
  }
}

void InPlaceReloads::End(const ReloadPtr& reload, State state, const std::string& why,
                         bool is_refused) {
  {
    const base::MutexLock lock(mu_);
    if (!IsCurrent(reload)) {
      return;  // nobody wants it any more
    }
    reload->report.state = state;
    reload->report.why = why;
    reload->report.is_refused = is_refused;
    reload->report.duration = options_.clock.Now() - reload->begun;
    if (is_refused) {
      for (const auto& [source, digest] : reload->job.data) {
        refused_[reload->job.workload].insert_or_assign(source, digest);
      }
    }
    running_.Add(-1);
    (state == State::kDone ? done_ : failed_).Increment();
    std::erase_if(owners_, [&](const auto& owner) { return owner.second == reload->job.workload; });
  }
  reload->stop.request_stop();
  if (options_.on_end) {
    options_.on_end(reload->job.workload);
  }
}

}  // namespace kubexx::reloader
