// Handles namespaces whose policies are not known for a PolicyEnforcer.
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_enforcer.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::HoldReason;
using reloadpolicy::ObjectRef;

/// After a list, its objects are in the caches, and the arbiter knows them, well before this time
/// has passed.
constexpr base::Duration kUntilTold = std::chrono::seconds(1);

}  // namespace

void PolicyEnforcer::AskTheUnread() {
  std::vector<ObjectRef> due;
  std::vector<ObjectRef> followed;
  {
    const base::MutexLock lock(mu_);
    for (const auto& [workload, pending] : arbiter_.pending()) {
      if (pending.hold.reason == HoldReason::kPoliciesUnread) {
        due.push_back(workload);
      }
    }
    followed = arbiter_.Followed();
  }
  std::set<std::string> names;
  for (const ObjectRef& ref : followed) {
    names.insert(ref.key.namespace_);
  }
  LookAtUnread(std::move(names));
  {
    const base::MutexLock lock(mu_);
    for (const ObjectRef& ref : followed) {
      if (arbiter_.unread().contains(ref.key.namespace_)) {
        due.push_back(ref);
      }
    }
  }
  for (const ObjectRef& ref : due) {
    if (const auto id = IdOf(ref)) {
      Wake(*id, kUntilTold);
    }
  }
}

void PolicyEnforcer::LookAtUnread(std::set<std::string> names) {
  if (!options_.unread) {
    return;
  }
  {
    const base::MutexLock lock(mu_);
    names.insert(arbiter_.unread().begin(), arbiter_.unread().end());
  }
  names.erase("");  // OnSynced handles it
  std::map<std::string, bool> unread;
  for (const std::string& name : names) {
    unread[name] = options_.unread(name).has_value();
  }
  {
    const base::MutexLock lock(mu_);
    std::erase_if(unread, [&](const auto& each) KX_REQUIRES(mu_) {
      return arbiter_.unread().contains(each.first) == each.second;
    });
  }
  if (unread.empty()) {
    return;
  }
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime now) {
    for (const auto& [name, is_unread] : unread) {
      arbiter.SetUnread(name, is_unread, now);
    }
  });
}

}  // namespace kubexx::reloader
