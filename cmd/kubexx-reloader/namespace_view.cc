#include "namespace_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kubexx/reloader/operator/watch_scope.h"
#include "kubexx/reloader/plan/foreign_list.h"
#include "kubexx/reloader/watch/kubernetes_io.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using reloader::WorkloadId;

std::vector<reloader::InformerSet> Informers(const std::shared_ptr<rest::RESTClient>& client,
                                             const reloader::Config& config,
                                             const std::string& name,
                                             std::shared_ptr<reloader::Fallbacks> fallbacks) {
  const reloader::WatchSettings settings{.keys = config.rules.keys,
                                         .source_label_selector = config.source_label_selector,
                                         .ignored_types = config.ignored_types,
                                         .source_kinds = config.rules.source_kinds,
                                         .kinds = reloader::WatchedKinds(config),
                                         .fallbacks = std::move(fallbacks)};
  std::vector<reloader::InformerSet> informers;
  informers.push_back(reloader::NewInformers(client, name, settings));
  return informers;
}

std::vector<std::string> NamespacesOf(const std::string& name) {
  return name.empty() ? std::vector<std::string>() : std::vector{name};
}

}  // namespace

NamespaceView::NamespaceView(const std::shared_ptr<rest::RESTClient>& client,
                             const reloader::Config& config, const std::string& name)
    : config_(config),
      name_(name),
      fallbacks_(std::make_shared<reloader::Fallbacks>(nullptr)),
      enforcer_({.flags = config.rollouts}),
      // Somebody waits. What this person may not read says nothing of the operator.
      watch_(client, {.namespaces = NamespacesOf(name), .patience = base::Duration(0)}),
      caches_(Informers(client, config, name, fallbacks_), config.rules),
      query_pause_(reloader::NewPauseQuery(client)),
      value_digests_(reloader::NewValueFetch(client)),
      absences_({.has_selector = !config.source_label_selector.empty(),
                 .exists = reloader::NewSourceQuery(client)}),
      // The caches of all namespaces have the sources of all.
      foreign_(name.empty() ? nullptr : std::make_unique<ForeignView>(client, config, enforcer_)) {}

void NamespaceView::Start() {
  watch_.Start(enforcer_);
  caches_.Start();
}

Result<void> NamespaceView::Load(const std::stop_token& stop) {
  Start();
  if (!caches_.WaitForSync(stop) || !caches_.HasSynced() || !watch_.WaitForSync(stop)) {
    return Fail(Reason::kTimeout,
                "the workloads, ConfigMaps and Secrets of the namespace cannot be listed and "
                "watched; is that permitted?");
  }
  caches_.LoadPodReports();
  caches_.ForEachWorkload(
      [this](const reloader::Workload& workload) { enforcer_.OnWorkload(workload.id, &workload); });
  return {};
}

bool NamespaceView::MayNotList(reloader::WorkloadKind kind) const {
  return fallbacks_->IsRefused({reloader::KindName(kind), "list", name_});
}

Result<ForeignView::Named> NamespaceView::NamedBy(const reloader::Workload& workload,
                                                  const std::stop_token& stop) {
  return foreign_ ? foreign_->NamedBy(workload, stop) : ForeignView::Named();
}

ForeignView::News NamespaceView::RefreshForeign(const std::stop_token& stop) {
  return !foreign_ ? ForeignView::News()
                   : foreign_->Refresh(
                         [this](const reloader::SourceId& object) {
                           return !caches_.ForeignIdsOf(object).empty();
                         },
                         stop);
}

Result<void> NamespaceView::WithSources(
    const reloader::Workload& workload, const reloader::ChangedSources* changed,
    const std::stop_token& stop, base::FunctionRef<void(const reloader::SourceLookup&)> use) {
  KX_ASSIGN_OR_RETURN(ForeignView::Named foreign, NamedBy(workload, stop));
  reloader::ChangedSources pretended = std::move(foreign.rolling);
  reloader::KeyedSources sources(caches_, &enforcer_, &value_digests_, stop, &absences_);
  sources.LookFor(workload);
  if (changed != nullptr) {
    for (const auto& [id, source] : *changed) {
      pretended.insert_or_assign(id, source);
    }
  }
  if (!pretended.empty()) {
    sources.Pretend(pretended);
  }
  const auto get = [&](const reloader::SourceId& source) { return sources.Get(source); };
  const auto names = [&](reloader::SourceType type) {
    std::vector<std::string> all = caches_.SourceNames(type, workload.id.key.namespace_);
    for (const auto& [id, source] : changed == nullptr ? reloader::ChangedSources() : *changed) {
      if (id.type == type && std::ranges::find(all, id.key.name) == all.end()) {
        all.push_back(id.key.name);
      }
    }
    return all;
  };
  use({get, names, &sources});
  if (const auto& failure = sources.failure() ? sources.failure() : sources.left_out()) {
    return Fail(*failure);
  }
  return {};
}

bool NamespaceView::NeedsRollout(const reloader::Workload& workload,
                                 const reloader::SourceId& source, const std::stop_token& stop) {
  bool is_due = false;
  const auto looked =
      WithSources(workload, nullptr, stop, [&](const reloader::SourceLookup& sources) {
        reloader::PatternCache patterns;
        is_due = reloader::IsDue(
            reloader::MakePlan(workload, sources, reloader::Knowledge{}, config_.rules, patterns),
            source);
      });
  return is_due && looked;
}

Result<reloader::Explanation> NamespaceView::Explain(const WorkloadId& id,
                                                     const std::stop_token& stop) {
  const auto workload = caches_.GetWorkload(id);
  if (!workload) {
    return Fail(Reason::kNotFound, std::string(reloader::KindName(id.kind)) + " " +
                                       id.key.ToString() + " does not exist");
  }
  KX_RETURN_IF_ERROR(NamedBy(*workload, stop));  // tells the enforcer of further policies
  KX_ASSIGN_OR_RETURN(reloader::Explanation explanation,
                      Explain(*workload, enforcer_.Snapshot(), stop));
  return explanation;
}

Result<reloader::Explanation> NamespaceView::Explain(
    const reloader::Workload& workload, const reloadpolicy::Arbiter& arbiter,
    const std::stop_token& stop,
    std::function<std::vector<reloader::Workload>(const reloader::SourceId&)> users,
    reloader::WaveLines* wave_lines) {
  bool paused_by_others = false;
  if (workload.paused && workload.id.kind == reloader::WorkloadKind::kDeployment) {
    KX_ASSIGN_OR_RETURN(const reloader::PauseState pause, query_pause_(workload.id, stop));
    paused_by_others = pause.by_others;
  }
  if (!users) {
    users = [this](const reloader::SourceId& source) { return UsersOf(source); };
  }
  reloader::Explanation explanation;
  KX_RETURN_IF_ERROR(
      WithSources(workload, nullptr, stop, [&](const reloader::SourceLookup& sources) {
        explanation = reloader::Explain(
            {.workload = workload,
             .sources = sources,
             .rules = config_.rules,
             .arbiter = arbiter,
             .now = base::Clock::Real().Wall(),
             .source_selector = config_.source_label_selector,
             .paused_by_others = paused_by_others,
             .users = users,
             .needs_rollout =
                 [&](const reloader::Workload& other, const reloader::SourceId& source) {
                   return NeedsRollout(other, source, stop);
                 },
             .wave_lines = wave_lines});
      }));
  KX_ASSIGN_OR_RETURN(const ForeignView::Named foreign, NamedBy(workload, stop));
  for (reloader::SourceExplanation& source : explanation.sources) {
    if (const auto unread = foreign.unread.find(source.id); unread != foreign.unread.end()) {
      const reloader::BadItem unseen = reloader::NotAvailable(source.id);
      std::erase(explanation.problems, unseen.item + ": " + unseen.error);
      source.summary =
          "is of another namespace, and " +
          (unread->second.empty() ? "you may not read it"
                                  : "could not be read just now (" + unread->second + ")") +
          ": only the operator knows whether it rolls the workload, and tells in an "
          "Event of the workload where it does not";
    }
  }
  explanation.unread_policies = watch_.Unread();
  for (const std::string& name : foreign.unread_policies) {
    explanation.unread_policies.push_back("ReloadPolicies of the namespace " + name);
  }
  explanation.reported = watch_.Reported(workload.id);
  return explanation;
}

Result<void> NamespaceView::AddPreview(const reloader::ChangedSources& changed,
                                       const std::stop_token& stop, reloader::Preview& preview) {
  std::map<WorkloadId, reloader::Workload> users;
  for (const auto& [id, source] : changed) {
    for (reloader::Workload& user : UsersOf(id)) {
      users.try_emplace(user.id, std::move(user));
    }
  }
  std::vector<reloader::Workload> list;
  for (auto& [id, user] : users) {
    if (!reloader::IsKeeper(user)) {
      list.push_back(std::move(user));
    }
  }
  const reloadpolicy::Arbiter arbiter = enforcer_.Snapshot();
  KX_RETURN_IF_ERROR(reloader::AddPreview(
      {.changed = changed,
       .users = list,
       .with_sources =
           [&](const reloader::Workload& workload, bool is_after,
               base::FunctionRef<void(const reloader::SourceLookup&)> use) {
             return WithSources(workload, is_after ? &changed : nullptr, stop, use);
           },
       .rules = config_.rules,
       .arbiter = arbiter,
       .now = base::Clock::Real().Wall(),
       .before =
           [this](const reloader::SourceId& id) {
             const auto source = caches_.GetSource(id);
             return source ? source->digest : reloader::kNoSource;
           }},
      preview));
  for (const std::string& type : watch_.Unread()) {
    if (std::ranges::find(preview.unread_policies, type) == preview.unread_policies.end()) {
      preview.unread_policies.push_back(type);
    }
  }
  return {};
}

std::vector<reloader::Workload> NamespaceView::UsersOf(const reloader::SourceId& source) const {
  const reloader::Caches::Concerned concerned = caches_.WorkloadsOf(source);
  std::vector<reloader::Workload> users;
  for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
    for (const WorkloadId& id : *ids) {
      if (auto workload = caches_.GetWorkload(id)) {
        users.push_back(*std::move(workload));
      }
    }
  }
  return users;
}

}  // namespace kubexx
