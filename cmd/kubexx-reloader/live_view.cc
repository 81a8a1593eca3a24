#include "live_view.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kubexx/reloader/history/history_view.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/provider_class_projection.h"
#include "kubexx/reloader/operator/watch_scope.h"
#include "kubexx/reloader/ui/policy_record.h"
#include "kubexx/reloader/ui/workload_record.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using reloader::LiveRecords;
using reloader::SourceId;
using reloader::SourceType;
using reloader::Workload;
using reloader::WorkloadId;
using reloader::WorkloadKind;

/// The labels of a namespace may be as old as that.
constexpr base::Duration kLabelsAge = std::chrono::seconds(30);
/// What has not been listed by then is not waited for.
constexpr base::Duration kListPatience = std::chrono::seconds(10);

/// The record of a workload of which only the name can be shown.
std::string RecordWithout(const WorkloadId& id, std::string_view state, std::string_view why) {
  JsonTree tree = JsonTree::Object();
  tree["kind"] = KindName(id.kind);
  tree["namespace"] = id.key.namespace_;
  tree["name"] = id.key.name;
  tree["state"] = state;
  tree["why"] = why;
  tree["sources"] = JsonTree::Array();
  tree["policies"] = JsonTree::Array();
  return tree.ToJson();
}

}  // namespace

LiveView::LiveView(std::shared_ptr<rest::RESTClient> client, Judge judge, std::string namespace_in,
                   reloader::StateFeed& feed, Further further)
    : client_(std::move(client)),
      judge_(std::move(judge)),
      namespace_(std::move(namespace_in)),
      view_(client_, judge_.config, namespace_),
      records_(feed, RecordOptions(std::move(further))) {
  AddHandlers();
  view_.Start();
}

LiveRecords::Options LiveView::RecordOptions(Further further) {
  LiveRecords::Options options;
  options.look = [this](const WorkloadId& id, const std::stop_token& stop) {
    return LookAt(id, stop);
  };
  options.others = [this, further = std::move(further)](std::size_t left_out,
                                                        const std::stop_token& stop) {
    users_.clear();
    wave_lines_.lines.clear();
    RefreshForeign(stop);
    arbiter_ = view_.enforcer().Snapshot();
    Edits records;
    AddPolicies(records);
    AddOverview(left_out, records);
    further(records);
    return records;
  };
  return options;
}

void LiveView::AddHandlers() {
  for (const reloader::InformerSet& set : view_.caches().informers()) {
    for (const auto& [kind, informer] : set.workloads) {
      handlers_.push_back(informer->AddRawHandler(
          "ui", [this, kind = kind](const cache::RawEvent& event) { OnWorkload(kind, event); }));
    }
    for (const auto& [type, informer] : set.sources) {
      handlers_.push_back(informer->AddRawHandler(
          "ui", [this, type = type](const cache::RawEvent& event) { OnSource(type, event); }));
    }
    if (set.provider_classes) {
      handlers_.push_back(
          set.provider_classes->AddRawHandler("ui", [this](const cache::RawEvent& event) {
            TouchUsersOf({SourceType::kSecretProviderClass, event.key()});
          }));
    }
  }
}

void LiveView::OnWorkload(WorkloadKind kind, const cache::RawEvent& event) {
  const WorkloadId id{kind, event.key()};
  if (event.type == cache::RawEvent::Type::kDelete) {
    view_.enforcer().OnWorkload(id, nullptr);
  } else if (const auto workload = view_.caches().GetWorkload(id)) {
    view_.enforcer().OnWorkload(id, &*workload);
  }
  records_.Touch(id);
  if (kind == WorkloadKind::kDeployment) {
    for (const WorkloadId& rollout : view_.caches().RolloutsOf(id.key)) {
      records_.Touch(rollout);
    }
  }
}

void LiveView::OnSource(SourceType type, const cache::RawEvent& event) {
  if (type != SourceType::kSecretProviderClass) {
    TouchUsersOf({type, event.key()});
    for (const SourceId& id : view_.caches().ForeignIdsOf({type, event.key()})) {
      TouchUsersOf(id);
    }
    return;
  }
  if (event.type == cache::RawEvent::Type::kDelete) {
    return;  // what the pod reported stays known
  }
  if (const auto report = reloader::PodReportFrom(event.object()); report && *report) {
    reloader::PodReport now = **report;
    if (event.type == cache::RawEvent::Type::kUpdate) {
      const auto before = reloader::PodReportFrom(event.old_object());
      now.updated = before && *before && (*before)->source == now.source;
    }
    view_.caches().provider_classes().Observe(now);
    TouchUsersOf(now.source);
  }
}

void LiveView::TouchUsersOf(const SourceId& source) {
  const reloader::Caches::Concerned concerned = view_.caches().WorkloadsOf(source);
  for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
    for (const WorkloadId& id : *ids) {
      records_.Touch(id);
    }
  }
}

void LiveView::RefreshForeign(const std::stop_token& stop) {
  const ForeignView::News news = view_.RefreshForeign(stop);
  for (const SourceId& object : news.objects) {
    for (const SourceId& id : view_.caches().ForeignIdsOf(object)) {
      TouchUsersOf(id);
    }
  }
  if (news.has_policies) {
    records_.TouchAll();
  }
}

LiveRecords::Look LiveView::LookAt(const WorkloadId& id, const std::stop_token& stop) {
  const auto workload = view_.caches().GetWorkload(id);
  if (!workload || reloader::IsKeeper(*workload)) {
    waves_.Forget(id);
    return {};
  }
  if (!is_complete_) {
    // Before all sources are there, those that are not would seem not to exist.
    return {.json = RecordWithout(id, "loading", ""), .is_settled = false};
  }
  const auto explanation = ExplainNow(*workload, stop);
  if (!explanation) {
    return {.json = RecordWithout(id, "unknown", explanation.error().message),
            .is_settled = false,
            .is_postponed = true};
  }
  const reloadpolicy::ObjectRef ref = reloader::RefOf(id);
  waves_.Note(*workload, *explanation, arbiter_.policies().Resolve(ref, workload->annotations));
  std::vector<reloadpolicy::PolicyId> policies;
  for (const reloadpolicy::Policy* policy : arbiter_.policies().Governing(ref)) {
    policies.push_back(policy->id);
  }
  return {.json = reloader::WorkloadRecord(*explanation, *workload, policies),
          .is_settled = IsSettled(reloader::PageStateOf(*explanation, *workload))};
}

std::string LiveView::WhyUnwatched(const WorkloadId& id, const std::stop_token& stop) {
  const auto labels = [&]() -> Result<apimachinery::LabelMap> {
    const base::TimePoint now = base::Clock::Real().Now();
    const auto [found, is_new] = labels_.try_emplace(id.key.namespace_);
    if (is_new || now - found->second.read > kLabelsAge) {
      found->second = {now, LabelsOf(client_, id.key.namespace_, stop)};
    }
    return found->second.labels;
  };
  const auto why = reloader::WhyNotWatched(id.kind, id.key.namespace_, judge_.config, labels);
  // Who may not read the namespace's labels sees its workloads nevertheless.
  return why ? *why : std::string();
}

Result<reloader::Explanation> LiveView::ExplainNow(const Workload& workload,
                                                   const std::stop_token& stop) {
  if (std::string why = WhyUnwatched(workload.id, stop); !why.empty()) {
    return reloader::Explanation{.workload = workload.id, .not_watched = std::move(why)};
  }
  KX_ASSIGN_OR_RETURN(
      reloader::Explanation explanation,
      view_.Explain(
          workload, arbiter_, stop, [this](const SourceId& source) { return UsersOf(source); },
          &wave_lines_));
  if (judge_.unread) {
    if (explanation.hold) {
      explanation.further_holds.insert(explanation.further_holds.begin(), *explanation.hold);
    }
    explanation.hold = {.reason = reloadpolicy::HoldReason::kPoliciesUnread,
                        .message = *judge_.unread};
  }
  return explanation;
}

std::vector<Workload> LiveView::UsersOf(const SourceId& source) {
  const auto [found, is_new] = users_.try_emplace(source);
  if (is_new) {
    found->second = view_.UsersOf(source);
  }
  return found->second;
}

Result<std::string> LiveView::Details(const WorkloadId& id, const std::stop_token& stop) {
  const auto workload = view_.caches().GetWorkload(id);
  if (!workload) {
    return Fail(Reason::kNotFound, std::string(KindName(id.kind)) + " " + id.key.ToString() +
                                       " does not exist, or may not be read");
  }
  KX_ASSIGN_OR_RETURN(const std::string not_watched,
                      reloader::WhyNotWatched(id.kind, id.key.namespace_, judge_.config, [&] {
                        return LabelsOf(client_, id.key.namespace_, stop);
                      }));
  reloader::Explanation explanation{.workload = id, .not_watched = not_watched};
  if (not_watched.empty()) {
    KX_ASSIGN_OR_RETURN(explanation, view_.Explain(id, stop));
  }
  explanation.flags = judge_.whose;
  return reloader::WorkloadDetails(explanation, reloader::WorkloadHistoryOf(*workload));
}

std::string LiveView::HistoryOf(const SourceId& source) const {
  std::vector<reloader::WorkloadHistory> all;
  view_.caches().ForEachWorkload([&](const Workload& workload) {
    if (workload.id.key.namespace_ == source.key.namespace_) {
      all.push_back(reloader::WorkloadHistoryOf(workload));
    }
  });
  return ToJson(reloader::SourceHistoryOf(source, all));
}

template <class T>
void LiveView::AddPoliciesOf(const cache::SharedInformer<T>& informer, Edits& records) {
  const auto waves = waves_.UnderWay();
  for (const apimachinery::ObjectKey& key : informer.Keys()) {
    if (const auto policy = informer.Get(key)) {
      const auto found = waves.find(key);
      records[reloader::PolicyKeyOf(key)] =
          reloader::PolicyRecord(**policy, found == waves.end() ? JsonTree::Array() : found->second,
                                 base::Clock::Real().Wall());
    }
  }
}

void LiveView::AddPolicies(Edits& records) {
  std::map<reloadpolicy::PolicyId, std::int64_t> generations;
  for (const auto& [id, policy] : arbiter_.policies().all()) {
    generations[id] = policy.generation;
  }
  if (std::vector<std::string> unread = view_.policies().Unread();
      generations != generations_ || unread != unread_) {
    generations_ = std::move(generations);
    unread_ = std::move(unread);
    records_.TouchAll();
  }
  const auto hour = std::chrono::floor<std::chrono::hours>(base::Clock::Real().Wall());
  std::vector<std::string> state{view_.policies().namespaced().LastSyncResourceVersion(),
                                 view_.policies().of_cluster().LastSyncResourceVersion(),
                                 std::to_string(hour.time_since_epoch().count())};
  for (const auto& [id, waves] : waves_.UnderWay()) {
    state.push_back(id.ToString() + waves.ToJson());
  }
  if (state != policy_state_) {
    policy_records_.clear();
    AddPoliciesOf(view_.policies().namespaced(), policy_records_);
    AddPoliciesOf(view_.policies().of_cluster(), policy_records_);
    policy_state_ = std::move(state);
  }
  records.insert(policy_records_.begin(), policy_records_.end());
}

std::vector<std::string> LiveView::Gaps() const {
  std::vector<std::string> gaps;
  const auto add = [&](const cache::SharedInformerBase& informer) {
    // An informer of several namespaces counts as synced when they have refused it.
    if (const auto listed = informer.SyncError(); !listed) {
      gaps.push_back(informer.name() + ": " + listed.error().message);
    }
  };
  for (const reloader::InformerSet& set : view_.caches().informers()) {
    for (const auto& [kind, informer] : set.workloads) {
      if (view_.MayNotList(kind)) {
        gaps.push_back(informer->name() + ": they may not be listed");
      } else if (reloader::IsBuiltIn(kind)) {  // most servers do not have the others
        add(*informer);
      }
    }
    for (const auto& [type, informer] : set.sources) {
      if (type != SourceType::kSecretProviderClass) {
        add(*informer);
      }
    }
  }
  for (const std::string& type : unread_) {
    gaps.push_back(type + ": they may not be read; what they hold back is not known");
  }
  return gaps;
}

void LiveView::AddOverview(std::size_t left_out, Edits& records) {
  const bool is_complete =
      view_.caches().HasSynced() || base::Clock::Real().Now() - started_ > kListPatience;
  if (is_complete && !is_complete_) {
    is_complete_ = true;
    records_.TouchAll();
  }
  JsonTree tree = JsonTree::Object();
  tree["namespace"] = namespace_;
  tree["rules"] = judge_.whose;
  tree["complete"] = is_complete_;
  tree["leftOut"] = left_out;
  tree["gaps"] = JsonTree::Array();
  if (is_complete_) {
    for (const std::string& gap : Gaps()) {
      tree["gaps"].Append(gap);
    }
  }
  records["view"] = tree.ToJson();
}

}  // namespace kubexx
