#include "kubexx/reloader/policy/policies.h"

#include <chrono>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/events/core_recorder.h"
#include "kubexx/events/event_sink.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_metrics.h"
#include "kubexx/reloader/write/write_events.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

std::unique_ptr<events::Recorder> NewRecorder(const std::shared_ptr<rest::RESTClient>& client,
                                              const Policies::Options& options) {
  return std::make_unique<events::CoreRecorder>(
      std::make_shared<events::ClientSink<api::core::v1::Event>>(client),
      events::RecorderOptions{.component = "kubexx-reloader",
                              .flush_limit = std::chrono::seconds(1),
                              .registry = options.registry,
                              .executor = options.executor});
}

}  // namespace

events::Occurrence EventAbout(const PolicyNotice& notice) {
  events::Occurrence occurrence;
  occurrence.regarding = ReferenceTo(notice.workload, notice.uid);
  occurrence.type = notice.warning ? events::EventType::kWarning : events::EventType::kNormal;
  occurrence.reason = notice.reason;
  occurrence.note = notice.message;
  return occurrence;
}

bool LogsAsWarning(const PolicyNotice& notice) { return notice.warning && !notice.is_one_of_many; }

std::optional<RolloutTrouble> TroubleIn(const PolicyNotice& notice) {
  if (notice.reason != kRolloutFailed) {
    return std::nullopt;
  }
  const auto text = [&notice](const std::string& mark) {
    return std::string(notice.is_in_place ? "a reload in place" : "a rollout") +
           " has failed: " + mark + RefOf(notice.workload).ToString() + mark + ": " +
           notice.message;
  };
  return RolloutTrouble{.is_bad = true,
                        .reason = notice.reason,
                        .message = text("*"),
                        .plain = text(""),
                        .workload = notice.workload,
                        .is_in_place = notice.is_in_place};
}

events::Occurrence EventAbout(const RestoreReport& report) {
  events::Occurrence occurrence;
  occurrence.regarding.api_version = "v1";
  occurrence.regarding.kind = NamesOf(report.source.type).kind;
  occurrence.regarding.namespace_ = report.source.key.namespace_;
  occurrence.regarding.name = report.source.key.name;
  occurrence.regarding.uid = report.uid;
  const bool is_restored = report.outcome == RestoreReport::Outcome::kRestored;
  occurrence.type = is_restored ? events::EventType::kNormal : events::EventType::kWarning;
  occurrence.reason = is_restored ? "Restored" : "NotRestored";
  occurrence.note = (is_restored ? std::string() : report.reason + ": ") + report.message;
  return occurrence;
}

std::optional<RolloutTrouble> TroubleIn(const RestoreReport& report) {
  const bool is_restored = report.outcome == RestoreReport::Outcome::kRestored;
  if (!is_restored && report.outcome != RestoreReport::Outcome::kHeld) {
    return std::nullopt;
  }
  const auto text = [&](const std::string& mark) {
    return (is_restored ? "data were restored: " : "data were not restored: ") + mark +
           RefOf(report.source).ToString() + mark + ": " + report.message;
  };
  return RolloutTrouble{.is_bad = !is_restored,
                        .reason = is_restored ? "Restored" : "NotRestored",
                        .message = text("*"),
                        .plain = text(""),
                        .workload = report.workload ? IdOf(*report.workload) : std::nullopt,
                        .policy = report.policy};
}

Policies::Policies(std::shared_ptr<rest::RESTClient> client, const Options& options)
    : client_(std::move(client)),
      options_(options),
      recorder_(options.read_only ? nullptr : NewRecorder(client_, options)),
      store_(options.allow_restore && !options.read_only
                 ? NewSourceStore(client_, options.own_namespace)
                 : nullptr),
      enforcer_(
          {.flags = options.flags,
           .notify = [this](const PolicyNotice& notice) { Notify(notice); },
           .wait_for_policies =
               [this](const std::stop_token& stop) { return !watch_ || watch_->WaitForSync(stop); },
           .unread =
               [this](const std::string& namespace_) {
                 return watch_ ? watch_->UnreadIn(namespace_) : std::nullopt;
               },
           .consider =
               store_ == nullptr
                   ? std::function<void(const std::vector<SourceId>&)>()
                   : [this](const std::vector<SourceId>& sources) { restorer_->Consider(sources); },
           .snapshot_gone =
               store_ == nullptr
                   ? std::function<void(const SourceId&)>()
                   : [this](const SourceId& source) { restorer_->SnapshotGone(source); }}),
      restorer_(
          store_ == nullptr
              ? nullptr
              : std::make_unique<Restorer>(
                    *store_,
                    Restorer::Options{
                        .ignore_annotation = options.ignore_annotation,
                        .standing =
                            [this](const SourceId& source, const std::optional<Digest>& good) {
                              return enforcer_.StandingOf(source, good);
                            },
                        .report = [this](const RestoreReport& report) { OnRestore(report); },
                        .writes = options.reports})),
      watch_(options.watch ? std::make_unique<PolicyWatch>(client_, WatchOptions()) : nullptr),
      metrics_(options.registry == nullptr ? base::Subscription()
                                           : RegisterPolicyMetrics(enforcer_, *options.registry)) {}

Policies::~Policies() { Stop(); }

PolicyWatch::Options Policies::WatchOptions() {
  return {.namespaces = options_.namespaces,
          .registry = options_.registry,
          .cluster_needed = options_.cluster_needed,
          .refusals = options_.refusals,
          .served = options_.served,
          .executor = options_.executor,
          .on_change = [this](const std::string&) {
            enforcer_.AskTheUnread();
            if (options_.on_unread) {
              options_.on_unread();
            }
          }};
}

std::map<std::string, std::string> Policies::Unread() {
  return watch_ ? watch_->AllUnread() : std::map<std::string, std::string>();
}

void Policies::Start() {
  if (!watch_) {
    return;
  }
  watch_->Start(enforcer_);
  if (!options_.read_only) {
    PolicyStatusWriter::Options status{.interval = options_.status_interval,
                                       .reports = options_.reports,
                                       .recorder = recorder_.get(),
                                       .executor = options_.executor};
    if (!options_.troubles.empty()) {
      troubles_ = std::make_unique<TroubleReporter>(options_.troubles);
      status.observe = [this](const std::vector<PolicyState>& states) {
        troubles_->Look(states, base::Clock::Real().Wall());
      };
    }
    status_ = std::make_unique<PolicyStatusWriter>(client_, enforcer_, *watch_, std::move(status));
  }
}

void Policies::Stop() {
  if (restorer_) {
    restorer_->Stop();
  }
  status_.reset();
  if (watch_) {
    watch_->Stop();
  }
}

void Policies::Notify(const PolicyNotice& notice) const {
  const bool warns = LogsAsWarning(notice);
  logging::Log(warns ? logging::Level::kWarning : logging::Level::kInfo,
               warns ? "Rollouts of a workload need attention" : "A rollout waits",
               {{"workload", notice.workload.key.name},
                {"kind", KindName(notice.workload.kind)},
                {"namespace", notice.workload.key.namespace_},
                {"reason", notice.reason},
                {"message", notice.message}});
  if (recorder_) {
    recorder_->Record(EventAbout(notice));
  }
  if (const auto trouble = TroubleIn(notice)) {
    for (TroubleObserver* observer : options_.troubles) {
      observer->OnTrouble(*trouble);
    }
  }
}

void Policies::OnRestore(const RestoreReport& report) {
  const bool is_news = enforcer_.NoteRestore(report);
  if (!is_news || report.outcome == RestoreReport::Outcome::kOver || report.is_earlier) {
    return;
  }
  const bool is_restored = report.outcome == RestoreReport::Outcome::kRestored;
  logging::Log(is_restored ? logging::Level::kInfo : logging::Level::kWarning,
               is_restored ? "Put the last good data back into a source"
                           : "Cannot put the last good data back into a source",
               {{"kind", NamesOf(report.source.type).kind},
                {"namespace", report.source.key.namespace_},
                {"source", report.source.key.name},
                {"reason", report.reason},
                {"message", report.message}});
  if (recorder_) {
    recorder_->Record(EventAbout(report));
  }
  if (const auto trouble = TroubleIn(report)) {
    for (TroubleObserver* observer : options_.troubles) {
      observer->OnTrouble(*trouble);
    }
  }
}

}  // namespace kubexx::reloader
