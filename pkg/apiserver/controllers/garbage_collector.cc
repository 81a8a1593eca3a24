// The garbage collector: deletes through the API what the graph of owners tells it to delete.
#include <algorithm>
#include <functional>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/apiserver/controllers/store_graph.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/controller/controller.h"
#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::controllers {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using controller::Action;

class Collector final {
 public:
  Collector(storage::Storage& storage, base::Clock& clock) : graph_(storage, clock) {}

  StoreGraph& graph() { return graph_; }

  Result<Action> Reconcile(const std::string& uid, const controller::Context& context) {
    const GraphAction action = graph_.Decide(uid);
    switch (action.type) {
      case GraphAction::Type::kNothing:
        return Action::Done();
      case GraphAction::Type::kDelete:
        KX_RETURN_IF_ERROR(Delete(uid, action, context));
        return Action::Done();
      case GraphAction::Type::kForgetOwners:
        KX_RETURN_IF_ERROR(Change(uid, {.owners = action.owners}, context));
        return Action::Done();
      case GraphAction::Type::kRemoveFinalizer:
        KX_RETURN_IF_ERROR(Change(uid, {.finalizer = action.finalizer}, context));
        return Action::Done();
      case GraphAction::Type::kRelease:
        KX_RETURN_IF_ERROR(ForEach(action.dependents, [&](const std::string& dependent) {
          return Change(dependent, {.owners = {uid}}, context);
        }));
        KX_RETURN_IF_ERROR(Change(uid, {.finalizer = action.finalizer}, context));
        return Action::Done();
      case GraphAction::Type::kVisit:
        // Each dependent that goes lets this object be visited again.
        KX_RETURN_IF_ERROR(
            ForEach(action.dependents, [&](const std::string& dependent) -> Result<void> {
              const GraphAction next = graph_.Decide(dependent);
              if (next.type == GraphAction::Type::kDelete) {
                return Delete(dependent, next, context);
              }
              return next.type == GraphAction::Type::kForgetOwners
                         ? Change(dependent, {.owners = next.owners}, context)
                         : Result<void>();
            }));
        return Action::Done();
    }
    return Action::Done();
  }

 private:
  dynamic::MetadataResource ResourceOf(const GraphNode& node,
                                       const controller::Context& context) const {
    return dynamic::MetadataClient(context.client.rest())
        .Resource(node.resource, node.key.namespace_);
  }

  /// Calls it for all, even if it fails for one. Returns the first error.
  static Result<void> ForEach(const std::vector<std::string>& uids,
                              const std::function<Result<void>(const std::string&)>& what) {
    Result<void> first;
    for (const std::string& uid : uids) {
      Result<void> done = what(uid);
      if (!done && first) {
        first = std::move(done);
      }
    }
    return first;
  }

  /// An object that is already gone is not an error. A resource that is not served, perhaps only at
  /// this moment, is one: in that case the answer does not name an object.
  static Result<void> Settled(Result<void> result) {
    if (!result && result.error().reason == Reason::kNotFound &&
        !result.error().details.name.empty()) {
      return {};
    }
    return result;
  }

  /// Returns what the object asks by now for the objects that it owns, which the graph may not know
  /// yet.
  static kubernetes::Propagation PropagationOf(const GraphAction& action,
                                               const api::meta::v1::ObjectMeta& metadata) {
    const auto has = [&](std::string_view finalizer) {
      return std::ranges::find(metadata.finalizers, finalizer) != metadata.finalizers.end();
    };
    if (action.propagation == kubernetes::Propagation::kForeground) {
      return action.propagation;
    }
    return has(kOrphanFinalizer)       ? kubernetes::Propagation::kOrphan
           : has(kForegroundFinalizer) ? kubernetes::Propagation::kForeground
                                       : kubernetes::Propagation::kBackground;
  }

  /// Whether the object may be deleted because its owners are gone, which the graph says. An owner
  /// whose kind is not served, or not yet served, does not count as gone, which is an error: an
  /// object that was restored before the definition of its owner stays. kube-controller-manager
  /// does the same and tries again. A cluster-scoped object with an owner in a namespace is not
  /// deleted.
  Result<bool> MayBeDeleted(const api::meta::v1::ObjectMeta& metadata,
                            const std::stop_token& stop) const {
    std::set<StoreGraph::GroupKind> kinds;
    for (const auto& owner : metadata.owner_references) {
      kinds.insert(StoreGraph::GroupKindOf(owner.api_version, owner.kind));
    }
    const auto stays = [&](const std::string& why) {
      return Fail(Reason::kServiceUnavailable,
                  metadata.namespace_ + "/" + metadata.name + " is not deleted: " + why);
    };
    for (const char* const group : {"", "events.k8s.io"}) {
      if (kinds.contains({group, "Event"})) {  // the graph does not have Events
        return stays("its owner is an Event, and those are not watched");
      }
    }
    KX_ASSIGN_OR_RETURN(const auto scopes, graph_.ScopesOf(kinds, stop));
    const api::meta::v1::OwnerReference* namespaced = nullptr;
    for (const auto& owner : metadata.owner_references) {
      const auto scope = scopes.at(StoreGraph::GroupKindOf(owner.api_version, owner.kind));
      if (scope == StoreGraph::Scope::kNone) {
        return stays("the server does not serve the kind of its owner " + owner.name + ", " +
                     owner.kind + " of " + owner.api_version);
      }
      namespaced = scope == StoreGraph::Scope::kNamespace ? &owner : namespaced;
    }
    if (metadata.namespace_.empty() && namespaced != nullptr) {
      logging::Warning(
          "A cluster-scoped object is not deleted, as its owner is namespaced",
          {{"object", metadata.name}, {"owner", namespaced->kind + "/" + namespaced->name}});
      return false;
    }
    return true;
  }

  /// Deletes the object only in the state that the graph knows, and not if somebody has given it
  /// other owners meanwhile.
  Result<void> Delete(const std::string& uid, const GraphAction& action,
                      const controller::Context& context) const {
    if (action.unblock) {
      KX_RETURN_IF_ERROR(Change(uid, {.unblock = true}, context));
    }
    KX_ASSIGN_OR_RETURN(const auto node, graph_.Find(uid));
    if (!node) {
      return {};
    }
    const auto resource = ResourceOf(*node, context);
    const auto object = resource.Get(node->key.name, context.stop);
    if (!object) {
      return Settled(Fail(object.error()));
    }
    std::set<std::string> owners;
    for (const auto& owner : object->metadata.owner_references) {
      owners.insert(owner.uid);
    }
    if (object->metadata.uid != uid ||
        !std::ranges::equal(owners, node->owners | std::views::keys)) {
      return {};  // the event that is on its way leads to another decision
    }
    KX_ASSIGN_OR_RETURN(const bool may_go, MayBeDeleted(object->metadata, context.stop));
    if (!may_go) {
      return {};
    }
    return Settled(resource.Delete(node->key.name,
                                   {.propagation = PropagationOf(action, object->metadata),
                                    .uid = uid,
                                    .resource_version = object->metadata.resource_version},
                                   context.stop));
  }

  /// A change of an object's metadata.
  struct MetadataChange {
    std::set<std::string> owners{};  ///< taken out of the ownerReferences
    std::string finalizer{};         ///< taken off, unless it is ""
    bool unblock = false;            ///< no owner waits for it any more
  };
  Result<void> Change(const std::string& uid, const MetadataChange& change,
                      const controller::Context& context) const {
    KX_ASSIGN_OR_RETURN(const auto node, graph_.Find(uid));
    if (!node) {
      return {};
    }
    const auto resource = ResourceOf(*node, context);
    auto object = resource.Get(node->key.name, context.stop);
    if (!object) {
      return Settled(Fail(object.error()));
    }
    api::meta::v1::ObjectMeta& metadata = object->metadata;
    if (metadata.uid != uid) {
      return {};
    }
    std::erase_if(metadata.owner_references,
                  [&](const auto& owner) { return change.owners.contains(owner.uid); });
    std::erase(metadata.finalizers, change.finalizer);
    for (auto& owner : metadata.owner_references) {
      if (change.unblock) {
        owner.block_owner_deletion = false;
      }
    }
    const auto text = codec::JsonTree::Parse(codec::EncodeJson(metadata));
    codec::JsonTree patch = codec::JsonTree::Object();
    patch["metadata"]["uid"] = uid;
    patch["metadata"]["resourceVersion"] = metadata.resource_version;
    for (const char* const list : {"ownerReferences", "finalizers"}) {
      const codec::JsonTree* const value = text ? text->Find(list) : nullptr;
      patch["metadata"][list] = value == nullptr ? codec::JsonTree() : *value;
    }
    const auto patched =
        resource.Patch(node->key.name, {.type = rest::PatchType::kMerge, .text = patch.ToJson()},
                       {}, context.stop);
    return patched ? Result<void>() : Settled(Fail(patched.error()));
  }

  StoreGraph graph_;
};

}  // namespace

Result<void> AddGarbageCollector(const Setup& setup) {
  auto collector = std::make_shared<Collector>(setup.storage, setup.manager.clock());
  controller::ControllerOptions options = setup.manager.ControllerDefaults("garbage-collector");
  options.max_concurrent_reconciles = 2;
  KX_RETURN_IF_ERROR(setup.manager.ClaimControllerName(options));
  auto made = std::make_shared<controller::Controller>(
      options, setup.manager.ClientParts(),
      [collector](const controller::Request& request, controller::Context& context) {
        return collector->Reconcile(request.object.name, context);
      });
  controller::Source source;
  source.name = "storage";
  source.start = [collector](workqueue::Queue& queue) {
    auto thread = std::make_unique<std::jthread>([collector, &queue](const std::stop_token& stop) {
      collector->graph().Follow(
          [&queue](const std::string& uid) { queue.Add({.object = {.name = uid}}); }, stop);
    });
    return base::Subscription([thread = std::move(thread)]() mutable { thread.reset(); });
  };
  source.wait_for_sync = [collector](const std::stop_token& stop) {
    return collector->graph().WaitForSync(stop);
  };
  made->AddSource(std::move(source));
  return setup.manager.Add(std::move(made));
}

}  // namespace kubexx::apiserver::controllers
