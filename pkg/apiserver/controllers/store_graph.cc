#include "kubexx/apiserver/controllers/store_graph.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/apiserver/resources/builtin_types.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::controllers {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kRoot = "/registry/";
constexpr std::string_view kDefinitions =
    "/registry/apiextensions.k8s.io/customresourcedefinitions/";
constexpr std::chrono::seconds kGraphRetry{1};
constexpr std::string_view kUnreadable =
    "Some objects cannot be read; the garbage collector deletes nothing in their namespaces for a "
    "missing owner";

/// "/registry/pods/default/web" and 2 give "/registry/pods/".
std::string_view Prefix(std::string_view key, int segments) {
  std::size_t end = 0;
  for (int i = 0; i <= segments && end != std::string_view::npos; ++i) {
    end = key.find('/', end == 0 && i == 0 ? 0 : end + 1);
  }
  return end == std::string_view::npos ? std::string_view() : key.substr(0, end + 1);
}

GraphNode NodeOfTree(const ResourceType& type, const std::string& key, const JsonTree& object) {
  GraphNode node;
  node.resource = {.group = type.group, .version = type.version, .resource = type.plural};
  node.key = type.KeyOf(key);
  node.deleting = IsDeleting(object);
  if (const JsonTree* const owners = object.At({"metadata", "ownerReferences"})) {
    for (const JsonTree& owner : owners->elements()) {
      const JsonTree* const blocks = owner.Find("blockOwnerDeletion");
      bool& waits = node.owners[std::string(owner.TextAt("uid"))];
      waits = waits || (blocks != nullptr && blocks->AsBool().value_or(false));
    }
  }
  if (const JsonTree* const finalizers = object.At({"metadata", "finalizers"})) {
    for (const JsonTree& finalizer : finalizers->elements()) {
      node.foreground = node.foreground || finalizer == JsonTree(kForegroundFinalizer);
      node.orphan = node.orphan || finalizer == JsonTree(kOrphanFinalizer);
    }
  }
  return node;
}

}  // namespace

StoreGraph::StoreGraph(storage::Storage& storage, base::Clock& clock)
    : storage_(storage), clock_(clock) {
  for (ResourceTypeRef& type : BuiltinTypes()) {
    if (!type->is_review) {
      served_.emplace(GroupKind(type->group, type->kind),
                      type->namespaced ? Scope::kNamespace : Scope::kCluster);
    }
    if (!type->is_review && !type->is_made_up) {
      std::string prefix = type->prefix;
      types_.emplace(std::move(prefix), std::move(type));
    }
  }
}

ResourceTypeRef StoreGraph::TypeOf(const std::string& key) const {
  for (const int segments : {2, 3}) {
    const auto found = types_.find(std::string(Prefix(key, segments)));
    if (found != types_.end()) {
      return found->second;
    }
  }
  const std::string_view group = Prefix(key, 2);
  const std::string_view resource = Prefix(key, 3);
  if (group.find('.') == std::string_view::npos || resource.empty()) {
    return nullptr;
  }
  auto custom = std::make_shared<ResourceType>();
  custom->group = group.substr(kRoot.size(), group.size() - kRoot.size() - 1);
  custom->plural = resource.substr(group.size(), resource.size() - group.size() - 1);
  custom->prefix = resource;
  return custom;
}

ResourceTypeRef StoreGraph::Counted(const std::string& key) const {
  ResourceTypeRef type = TypeOf(key);
  return type == nullptr || type->rules.uncollected ? nullptr : type;
}

std::pair<std::string, GraphNode> StoreGraph::NodeOf(const ResourceType& type,
                                                     const std::string& key,
                                                     const std::string& value) {
  const auto json = JsonOfStored(type, value, 1);
  if (!json) {
    return {};
  }
  const auto object = JsonTree::Parse(*json);
  if (!object) {
    return {};
  }
  return {MetaString(*object, "uid"), NodeOfTree(type, key, *object)};
}

void StoreGraph::TellUnknown() {
  std::set<std::string> namespaces;
  for (const auto& [key, uid] : unreadable_) {
    namespaces.insert(TypeOf(key)->KeyOf(key).namespace_);
  }
  graph_.SetUnknown(std::move(namespaces));
}

std::vector<std::string> StoreGraph::Apply(const storage::Event& event) {
  if (event.type == storage::Event::Type::kProgress) {
    return {};
  }
  const std::string& key = event.kv.key;
  const ResourceTypeRef type = Counted(key);
  if (type == nullptr) {
    return {};
  }
  const bool is_put = event.type == storage::Event::Type::kPut;
  const auto read = [&](const storage::Bytes& value) {
    return value == nullptr ? std::pair<std::string, GraphNode>() : NodeOf(*type, key, *value);
  };
  auto [uid, node] = read(is_put ? event.kv.value : event.prev.value);
  const base::MutexLock lock(mu_);
  const auto known = unreadable_.find(key);
  const bool was_unreadable = known != unreadable_.end();
  std::vector<std::string> visit;
  if (is_put && uid.empty()) {  // its former state is still known
    if (!was_unreadable) {
      logging::Warning(kUnreadable, {{"objects", unreadable_.size() + 1}, {"last", key}});
      unreadable_.emplace(key, read(event.prev.value).first);
    }
  } else {
    if (uid.empty() && was_unreadable) {
      uid = known->second;
    }
    if (!uid.empty()) {
      visit = is_put ? graph_.Put(uid, std::move(node)) : graph_.Remove(uid);
    }
    if (was_unreadable) {
      unreadable_.erase(known);
      visit = graph_.Due();  // the work that was left undone for it
    }
  }
  if (was_unreadable != unreadable_.contains(key)) {
    TellUnknown();
  }
  return visit;
}

Result<void> StoreGraph::ListAndWatch(const Visit& visit, const std::stop_token& stop) {
  OwnerGraph graph;
  std::map<std::string, std::string> unreadable;
  KX_ASSIGN_OR_RETURN(const storage::ListResult listed,
                      storage_.GetList(
                          kRoot, {},
                          [&](storage::KeyValue&& kv) -> Result<void> {
                            const ResourceTypeRef type = Counted(kv.key);
                            if (type == nullptr) {
                              return {};
                            }
                            auto [uid, node] = NodeOf(*type, kv.key, *kv.value);
                            if (uid.empty()) {
                              unreadable.try_emplace(std::move(kv.key));
                            } else {
                              graph.Put(uid, std::move(node));
                            }
                            return {};
                          },
                          stop));
  if (!unreadable.empty()) {
    logging::Warning(kUnreadable,
                     {{"objects", unreadable.size()}, {"first", unreadable.begin()->first}});
  }
  const std::vector<std::string> due = graph.Due();
  {
    const base::MutexLock lock(mu_);
    graph_ = std::move(graph);
    unreadable_ = std::move(unreadable);
    TellUnknown();
    synced_ = true;
    changed_.notify_all();
  }
  for (const std::string& uid : due) {
    visit(uid);
  }
  storage::WatchOptions options;
  options.from_revision = listed.revision;
  options.was_given_out = true;
  return storage_.Watch(
      kRoot, options,
      [&](const std::shared_ptr<const storage::Event>& event) -> Result<void> {
        if (event->type == storage::Event::Type::kDelete && event->prev.value == nullptr &&
            Counted(event->kv.key) != nullptr) {
          // Only a list can tell which object is gone, because its last state has been compacted.
          return Fail(Reason::kExpired, "the last state of " + event->kv.key + " is not known");
        }
        for (const std::string& uid : Apply(*event)) {
          visit(uid);
        }
        return {};
      },
      stop);
}

void StoreGraph::Follow(const Visit& visit, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto ended = ListAndWatch(visit, stop);
    if (stop.stop_requested()) {
      return;
    }
    if (!ended) {
      logging::Warning("The garbage collector lists the storage again", {{"error", ended.error()}});
    }
    clock_.SleepFor(kGraphRetry, stop);
  }
}

bool StoreGraph::WaitForSync(const std::stop_token& stop) {
  base::MutexLock lock(mu_);
  while (!synced_) {
    if (stop.stop_requested()) {
      return false;
    }
    clock_.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
  }
  return true;
}

GraphAction StoreGraph::Decide(const std::string& uid) const {
  const base::MutexLock lock(mu_);
  return graph_.Decide(uid);
}

Result<std::optional<GraphNode>> StoreGraph::Find(const std::string& uid) const {
  std::optional<GraphNode> node;
  {
    const base::MutexLock lock(mu_);
    if (const GraphNode* const found = graph_.Find(uid)) {
      node = *found;
    }
  }
  if (node && node->resource.version.empty()) {
    KX_ASSIGN_OR_RETURN(node->resource.version, ServedVersionOf(node->resource));
    if (node->resource.version.empty()) {
      return std::nullopt;
    }
  }
  return node;
}

StoreGraph::GroupKind StoreGraph::GroupKindOf(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  return {std::string(slash == std::string_view::npos ? "" : api_version.substr(0, slash)),
          std::string(kind)};
}

Result<std::map<StoreGraph::GroupKind, StoreGraph::Scope>> StoreGraph::ScopesOf(
    const std::set<GroupKind>& kinds, const std::stop_token& stop) const {
  std::map<GroupKind, Scope> scopes;
  std::set<std::string, std::less<>> groups;  // of the kinds that are not built in
  for (const GroupKind& kind : kinds) {
    const auto served = served_.find(kind);
    scopes.emplace(kind, served == served_.end() ? Scope::kNone : served->second);
    if (served == served_.end() && !kind.first.empty()) {
      groups.insert(kind.first);
    }
  }
  const auto look = [&](storage::KeyValue&& kv) -> Result<void> {
    // The name of a definition is the plural, which has no dot, followed by the group.
    const std::string_view name =
        std::string_view(kv.key).substr(std::string_view(kDefinitions).size());
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos || !groups.contains(name.substr(dot + 1))) {
      return {};
    }
    KX_ASSIGN_OR_RETURN(const std::string json, JsonOfStored(*TypeOf(kv.key), *kv.value, 1));
    KX_ASSIGN_OR_RETURN(const JsonTree tree, JsonTree::Parse(json));
    std::string kind = StringAt(tree, {"status", "acceptedNames", "kind"});
    if (kind.empty()) {  // perhaps it is not served yet
      kind = StringAt(tree, {"spec", "names", "kind"});
    }
    if (const auto asked = scopes.find({std::string(name.substr(dot + 1)), std::move(kind)});
        asked != scopes.end()) {
      asked->second =
          StringAt(tree, {"spec", "scope"}) == "Cluster" ? Scope::kCluster : Scope::kNamespace;
    }
    return {};
  };
  if (!groups.empty()) {
    KX_RETURN_IF_ERROR(storage_.GetList(kDefinitions, {}, look, stop));
  }
  return scopes;
}

Result<std::string> StoreGraph::ServedVersionOf(
    const apimachinery::GroupVersionResource& resource) const {
  const auto definition =
      storage_.Get(std::string(kDefinitions) + resource.resource + "." + resource.group, 0, {});
  if (!definition) {
    return definition.error().reason == apimachinery::Reason::kNotFound
               ? Result<std::string>(std::string())
               : Fail(definition.error());
  }
  KX_ASSIGN_OR_RETURN(const std::string json,
                      JsonOfStored(*TypeOf(definition->key), *definition->value, 1));
  KX_ASSIGN_OR_RETURN(const JsonTree tree, JsonTree::Parse(json));
  const JsonTree* const versions = tree.At({"spec", "versions"});
  for (std::size_t i = 0; versions != nullptr && i < versions->elements().size(); ++i) {
    const JsonTree& version = versions->elements()[i];
    const JsonTree* const served = version.Find("served");
    if (served != nullptr && served->AsBool().value_or(false)) {
      return std::string(version.TextAt("name"));
    }
  }
  return Fail(apimachinery::Reason::kServiceUnavailable,
              resource.resource + "." + resource.group + " is not served in any version");
}

}  // namespace kubexx::apiserver::controllers
