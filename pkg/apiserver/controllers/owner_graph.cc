#include "kubexx/apiserver/controllers/owner_graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kubexx::apiserver::controllers {
namespace {

bool IsOfTheCluster(const GraphNode& node) { return node.key.namespace_.empty(); }

bool CanOwn(const GraphNode& owner, const GraphNode& owned) {
  return IsOfTheCluster(owner) || owner.key.namespace_ == owned.key.namespace_;
}

}  // namespace

const GraphNode* OwnerGraph::Find(const std::string& uid) const {
  const auto found = nodes_.find(uid);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::vector<std::string> OwnerGraph::DependentsOf(const std::string& uid,
                                                  const GraphNode& node) const {
  std::vector<std::string> uids;
  if (const auto found = dependents_.find(uid); found != dependents_.end()) {
    std::ranges::copy_if(found->second, std::back_inserter(uids),
                         [&](const std::string& each) { return CanOwn(node, *Find(each)); });
  }
  return uids;
}

std::vector<std::string> OwnerGraph::Due() const {
  std::vector<std::string> uids;
  for (const auto& [uid, node] : nodes_) {
    if (!node.owners.empty() || (node.deleting && (node.foreground || node.orphan))) {
      uids.push_back(uid);
    }
  }
  return uids;
}

std::vector<std::string> OwnerGraph::Put(const std::string& uid, GraphNode node) {
  std::vector<std::string> visit;
  GraphNode& slot = nodes_[uid];
  for (const auto& [owner, blocks] : slot.owners) {
    const auto now = node.owners.find(owner);
    if (now == node.owners.end()) {
      dependents_[owner].erase(uid);
      if (dependents_[owner].empty()) {
        dependents_.erase(owner);
      }
    }
    if (now == node.owners.end() || (blocks && !now->second)) {
      visit.push_back(owner);  // The owner may have waited for this object.
    }
  }
  for (const auto& [owner, blocks] : node.owners) {
    dependents_[owner].insert(uid);
  }
  const bool is_owner_leaving = node.deleting && (node.foreground || node.orphan);
  slot = std::move(node);
  if (!slot.owners.empty() || is_owner_leaving) {
    visit.push_back(uid);
  }
  return visit;
}

std::vector<std::string> OwnerGraph::Remove(const std::string& uid) {
  const auto found = nodes_.find(uid);
  if (found == nodes_.end()) {
    return {};
  }
  std::vector<std::string> visit = DependentsOf(uid, found->second);
  for (const auto& [owner, blocks] : found->second.owners) {
    dependents_[owner].erase(uid);
    if (dependents_[owner].empty()) {
      dependents_.erase(owner);
    }
    visit.push_back(owner);
  }
  nodes_.erase(found);
  return visit;
}

GraphAction OwnerGraph::DecideOwner(const std::string& uid, const GraphNode& node) const {
  if (node.orphan) {
    return {.type = GraphAction::Type::kRelease,
            .finalizer = std::string(kOrphanFinalizer),
            .dependents = DependentsOf(uid, node)};
  }
  const std::vector<std::string> dependents = DependentsOf(uid, node);
  const bool blocked = std::ranges::any_of(dependents, [&](const std::string& each) {
    return each != uid && Find(each)->owners.at(uid);
  });
  if (blocked) {
    return {.type = GraphAction::Type::kVisit, .dependents = dependents};
  }
  return {.type = GraphAction::Type::kRemoveFinalizer,
          .finalizer = std::string(kForegroundFinalizer)};
}

bool OwnerGraph::MayBeUnknown(const GraphNode& owned) const {
  return unknown_.contains("") || unknown_.contains(owned.key.namespace_);
}

GraphAction OwnerGraph::Decide(const std::string& uid) const {
  const GraphNode* const node = Find(uid);
  if (node == nullptr) {
    return {};
  }
  if (node->deleting && (node->foreground || node->orphan)) {
    return DecideOwner(uid, *node);
  }
  if (node->owners.empty() || node->deleting) {
    return {};
  }
  std::set<std::string> gone;
  bool waited_for = false;
  bool wanted = false;
  for (const auto& [owner, blocks] : node->owners) {
    const GraphNode* const there = Find(owner);
    if (there == nullptr && MayBeUnknown(*node)) {
      wanted = true;  // it may be one of these
    } else if (there != nullptr && !CanOwn(*there, *node) && IsOfTheCluster(*node)) {
      wanted = true;
    } else if (there == nullptr || !CanOwn(*there, *node)) {
      gone.insert(owner);
    } else if (there->deleting && there->foreground) {
      gone.insert(owner);
      waited_for = true;
    } else {
      wanted = true;
    }
  }
  if (gone.empty()) {
    return {};
  }
  if (wanted) {
    return {.type = GraphAction::Type::kForgetOwners, .owners = std::move(gone)};
  }
  const std::vector<std::string> dependents = DependentsOf(uid, *node);
  if (!waited_for || dependents.empty()) {
    // A request about the dependents that somebody has made stays valid.
    return {.type = GraphAction::Type::kDelete,
            .propagation = node->orphan       ? kubernetes::Propagation::kOrphan
                           : node->foreground ? kubernetes::Propagation::kForeground
                                              : kubernetes::Propagation::kBackground};
  }
  // A dependent that waits for its own dependents may wait for this object through them.
  const bool circle = std::ranges::any_of(dependents, [&](const std::string& each) {
    return Find(each)->deleting && Find(each)->foreground;
  });
  return {.type = GraphAction::Type::kDelete,
          .propagation = kubernetes::Propagation::kForeground,
          .unblock = circle};
}

}  // namespace kubexx::apiserver::controllers
