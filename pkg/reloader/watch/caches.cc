#include "kubexx/reloader/watch/caches.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/source_trace.h"
#include "kubexx/reloader/plan/foreign_list.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

constexpr char kByReference[] = "reference";
constexpr char kByListedName[] = "listed-name";
constexpr char kByPattern[] = "pattern";
constexpr char kByForeign[] = "foreign";
constexpr char kByNamespace[] = "namespace";
// The index has, for Deployments, all sources that they mention, whatever their annotations say,
// and for Rollouts whose pods are made from a Deployment's template, that Deployment.
constexpr char kByMention[] = "mention";
constexpr char kByTemplateOf[] = "template-of";

std::string TypedKey(SourceType type, std::string_view key) {
  return std::string(NamesOf(type).lower) + "/" + std::string(key);
}

// The transforms have made these objects, so this cannot happen. It is logged nevertheless.
void ReportUnreadable(std::string_view kind, const ObjectKey& key,
                      const apimachinery::Status& status) {
  logging::Error("Cannot read a cached object",
                 {{"kind", kind}, {"object", key.ToString()}, {"error", status}});
}

/// Whether the object is a source at all: those of described kinds may lack a field yet.
bool IsSource(SourceType type, const cache::Object& object) {
  if (!IsDescribed(type)) {
    return true;
  }
  const auto source = SourceFrom(type, object);
  return source && source->digest != kNoSource;
}

void AddTemplateTerms(const Workload& workload, cache::IndexTerms& terms) {
  if (workload.id.kind == WorkloadKind::kDeployment) {
    for (const SourceId& source : ReferencedSources(workload)) {
      terms.emplace_back(kByMention, TypedKey(source.type, source.key.ToString()));
    }
  } else if (IsOfDeployment(workload)) {
    terms.emplace_back(
        kByTemplateOf,
        ObjectKey{workload.id.key.namespace_, workload.template_ref->name}.ToString());
  }
}

void ForEachInformer(const InformerSet& set,
                     base::FunctionRef<void(cache::SharedInformerBase&)> each) {
  for (const auto& [kind, informer] : set.workloads) {
    each(*informer);
  }
  for (const auto& [type, informer] : set.sources) {
    each(*informer);
  }
  if (set.provider_classes) {
    each(*set.provider_classes);
  }
}

void AddRolloutsOf(const InformerSet& set, std::string_view source, std::vector<WorkloadId>& to) {
  const auto rollouts = set.workloads.find(WorkloadKind::kRollout);
  const auto deployments = set.workloads.find(WorkloadKind::kDeployment);
  if (rollouts == set.workloads.end() || deployments == set.workloads.end()) {
    return;
  }
  for (const ObjectKey& deployment : deployments->second->KeysByIndex(kByMention, source)) {
    for (ObjectKey& key : rollouts->second->KeysByIndex(kByTemplateOf, deployment.ToString())) {
      to.push_back({WorkloadKind::kRollout, std::move(key)});
    }
  }
}

void SortEachOnce(std::vector<WorkloadId>& ids) {
  std::ranges::sort(ids);
  const auto twice = std::ranges::unique(ids);
  ids.erase(twice.begin(), twice.end());
}

}  // namespace

bool InformerSet::Covers(std::string_view namespace_) const {
  return namespaces.empty() || namespaces.contains(namespace_);
}

std::stop_token InformerSet::LateOf(WorkloadKind kind) const {
  const auto found = late.find(kind);
  return found == late.end() ? std::stop_token() : found->second;
}

cache::IndexTerms WorkloadTerms(const Workload& workload, const DecisionRules& rules) {
  cache::IndexTerms terms;
  for (const SourceId& source : ReferencedSources(workload)) {
    if (MayReload(workload, source.type, rules)) {
      terms.emplace_back(kByReference, TypedKey(source.type, source.key.ToString()));
    }
  }
  for (const SourceId& source : ForeignSourcesOf(workload, rules.keys)) {
    terms.emplace_back(kByListedName, TypedKey(source.type, source.key.ToString()));
    terms.emplace_back(kByForeign, TypedKey(source.type, ObjectKeyOf(source).ToString()));
  }
  const std::string& ns = workload.id.key.namespace_;
  for (const auto& [type, text] : ReloadTextsOf(workload, rules.keys)) {
    const ReloadList list = ReloadItemsIn(text);
    for (const std::string& name : std::set(list.names.begin(), list.names.end())) {
      terms.emplace_back(kByListedName, TypedKey(type, ObjectKey{ns, name}.ToString()));
    }
    if (list.has_patterns) {
      terms.emplace_back(kByPattern, TypedKey(type, ns));
    }
  }
  return terms;
}

Caches::Caches(std::vector<InformerSet> informers, const DecisionRules& rules)
    : informers_(std::move(informers)) {
  for (const InformerSet& set : informers_) {
    const bool mentions = set.workloads.contains(WorkloadKind::kRollout);
    for (const auto& [kind, informer] : set.workloads) {
      informer->AddIndexer([kind, rules, mentions](const cache::Object& object) {
        const auto workload = WorkloadFrom(kind, object);
        cache::IndexTerms terms;
        if (workload) {
          terms = WorkloadTerms(*workload, rules);
          if (mentions) {
            AddTemplateTerms(*workload, terms);
          }
        }
        return terms;
      });
    }
    for (const auto& [type, informer] : set.sources) {
      informer->AddIndexer([type](const cache::Object& object) {
        return IsSource(type, object) ? cache::IndexTerms{{kByNamespace, object.key.namespace_}}
                                      : cache::IndexTerms{};
      });
    }
  }
}

void Caches::Start() {
  for (const InformerSet& set : informers_) {
    ForEachInformer(set, [](cache::SharedInformerBase& informer) { informer.Start(); });
  }
}

void Caches::Stop() {
  for (const InformerSet& set : informers_) {
    ForEachInformer(set, [](cache::SharedInformerBase& informer) { informer.Stop(); });
  }
}

std::optional<Source> Caches::GetProviderClass(const SourceId& id) const {
  auto reported = provider_classes_->Get(id);
  for (const InformerSet& set : informers_) {
    if (!reported || !set.provider_classes || !set.Covers(id.key.namespace_)) {
      continue;
    }
    const auto object = set.provider_classes->GetRaw(id.key);
    const auto annotated = object ? ProviderClassFrom(*object) : Source{};
    if (annotated && object) {
      reported->ignore = annotated->ignore;
      reported->match = annotated->match;
      reported->paused = annotated->paused;
    } else if (set.selects_provider_classes) {
      return std::nullopt;
    }
  }
  return reported;
}

void Caches::LoadPodReports() const {
  for (const InformerSet& set : informers_) {
    const auto statuses = set.sources.find(SourceType::kSecretProviderClass);
    if (statuses == set.sources.end()) {
      continue;
    }
    statuses->second->ForEachRaw([this](const cache::Object& object) {
      const auto report = PodReportFrom(object);
      if (report && *report) {
        provider_classes_->Observe(**report);
      }
    });
  }
}

std::optional<Source> Caches::GetSource(const SourceId& id) const {
  if (id.type == SourceType::kSecretProviderClass) {
    return GetProviderClass(id);
  }
  if (IsForeign(id)) {
    auto object = GetSource({id.type, ObjectKeyOf(id)});
    if (!object || !Allows(*object, id.key.namespace_)) {
      return Source{.id = id, .unknown = true};
    }
    object->id = id;
    return object;
  }
  for (const InformerSet& set : informers_) {
    const auto informer = set.sources.find(id.type);
    if (informer == set.sources.end() || !set.Covers(id.key.namespace_)) {
      continue;
    }
    const auto object = informer->second->GetRaw(id.key);
    if (!object) {
      continue;
    }
    if (auto source = SourceFrom(id.type, *object)) {
      if (IsDescribed(id.type) && source->digest == kNoSource) {
        return std::nullopt;  // a field is not there yet
      }
      source->resource_version = VersionNumber(object->resource_version);
      return *std::move(source);
    } else if (IsDescribed(id.type)) {
      return Source{.id = id, .unknown = true};  // its informer has reported it
    } else {
      ReportUnreadable(NamesOf(id.type).kind, id.key, source.error());
    }
  }
  return std::nullopt;
}

std::optional<TracedSource> Caches::GetTraced(const SourceId& id) const {
  for (const InformerSet& set : informers_) {
    const auto informer = set.sources.find(id.type);
    if (id.type == SourceType::kSecretProviderClass || informer == set.sources.end() ||
        !set.Covers(id.key.namespace_)) {
      continue;
    }
    const auto object = informer->second->GetRaw(id.key);
    const auto source = object ? SourceFrom(id.type, *object) : Source{};
    if (object && source && source->digest != kNoSource) {
      return TracedSource{.digest = source->digest, .trace = TraceFrom(*object)};
    }
  }
  return std::nullopt;
}

std::optional<Workload> Caches::GetWorkload(const WorkloadId& id) const {
  auto workload = FindWorkload(id);
  if (workload && IsOfDeployment(*workload)) {
    if (auto owner = FindWorkload(
            {WorkloadKind::kDeployment, {id.key.namespace_, workload->template_ref->name}})) {
      TakeTemplateOf(*std::move(owner), *workload);
    }
  }
  return workload;
}

std::optional<Workload> Caches::FindWorkload(const WorkloadId& id) const {
  for (const InformerSet& set : informers_) {
    const auto informer = set.workloads.find(id.kind);
    if (informer == set.workloads.end() || !set.Covers(id.key.namespace_)) {
      continue;
    }
    const auto object = informer->second->GetRaw(id.key);
    if (!object) {
      continue;
    }
    if (auto workload = WorkloadFrom(id.kind, *object)) {
      workload->resource_version = object->resource_version;
      return *std::move(workload);
    } else {
      ReportUnreadable(KindName(id.kind), id.key, workload.error());
    }
  }
  return std::nullopt;
}

void Caches::ForEachWorkload(base::FunctionRef<void(const Workload&)> each) const {
  for (const InformerSet& set : informers_) {
    for (const auto& [kind, informer] : set.workloads) {
      informer->ForEachRaw([&each, kind](const cache::Object& object) {
        if (const auto workload = WorkloadFrom(kind, object)) {
          each(*workload);
        }
      });
    }
  }
}

std::vector<std::string> Caches::SourceNames(SourceType type, std::string_view namespace_) const {
  if (type == SourceType::kSecretProviderClass) {
    return provider_classes_->Names(namespace_);
  }
  std::vector<std::string> names;
  for (const InformerSet& set : informers_) {
    if (const auto informer = set.sources.find(type); informer != set.sources.end()) {
      for (ObjectKey& key : informer->second->KeysByIndex(kByNamespace, namespace_)) {
        names.push_back(std::move(key.name));
      }
    }
  }
  return names;
}

std::vector<std::string> Caches::NamespacesWith(SourceType type, std::string_view name) const {
  std::vector<std::string> namespaces;
  for (const InformerSet& set : informers_) {
    if (const auto informer = set.sources.find(type); informer != set.sources.end()) {
      for (ObjectKey& key : informer->second->Keys()) {
        if (key.name == name) {
          namespaces.push_back(std::move(key.namespace_));
        }
      }
    }
  }
  return namespaces;
}

std::vector<WorkloadId> Caches::RolloutsOf(const ObjectKey& deployment) const {
  std::vector<WorkloadId> rollouts;
  for (const InformerSet& set : informers_) {
    const auto informer = set.workloads.find(WorkloadKind::kRollout);
    if (informer != set.workloads.end()) {
      for (ObjectKey& key : informer->second->KeysByIndex(kByTemplateOf, deployment.ToString())) {
        rollouts.push_back({WorkloadKind::kRollout, std::move(key)});
      }
    }
  }
  return rollouts;
}

std::vector<SourceId> Caches::ForeignIdsOf(const SourceId& object) const {
  const std::string name = TypedKey(object.type, object.key.ToString());
  std::set<SourceId> ids;
  for (const InformerSet& set : informers_) {
    for (const auto& [kind, informer] : set.workloads) {
      for (const ObjectKey& key : informer->KeysByIndex(kByForeign, name)) {
        ids.insert(ForeignId(object.type, object.key, key.namespace_));
      }
    }
  }
  return {ids.begin(), ids.end()};
}

Caches::Concerned Caches::WorkloadsOf(const SourceId& source) const {
  const std::string name = TypedKey(source.type, source.key.ToString());
  const std::string space = TypedKey(source.type, source.key.namespace_);
  Concerned concerned;
  for (const InformerSet& set : informers_) {
    for (const auto& [kind, informer] : set.workloads) {
      for (const char* index : {kByReference, kByListedName}) {
        for (ObjectKey& key : informer->KeysByIndex(index, name)) {
          concerned.by_name.push_back({kind, std::move(key)});
        }
      }
      for (ObjectKey& key : informer->KeysByIndex(kByPattern, space)) {
        concerned.by_pattern.push_back({kind, std::move(key)});
      }
    }
    AddRolloutsOf(set, name, concerned.by_name);
  }
  SortEachOnce(concerned.by_name);
  SortEachOnce(concerned.by_pattern);
  std::erase_if(concerned.by_pattern, [&](const WorkloadId& id) {
    return std::ranges::binary_search(concerned.by_name, id);
  });
  return concerned;
}

}  // namespace kubexx::reloader
