#include "kubexx/controller/internal/clusters.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/text/join.h"
#include "kubexx/controller/internal/manager_parts.h"
#include "kubexx/controller/internal/recorders.h"

namespace kubexx::controller::internal {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

namespace {

bool IsOfName(char c) { return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\'; }

}  // namespace

Result<Clusters::Pointer> Clusters::Add(Cluster::Parts parts) {
  if (parts.name.empty()) {
    return Fail(Reason::kInvalidConfig,
                "a further cluster of a manager needs a name, which its metrics have");
  }
  if (parts.name.contains('/')) {
    return Fail(Reason::kInvalidConfig, "cluster " + parts.name +
                                            ": a name with a slash could be that of a group and "
                                            "version, or of another cluster's informer");
  }
  if (!std::ranges::all_of(parts.name, IsOfName)) {
    return Fail(Reason::kInvalidConfig,
                "the name of a cluster has ASCII characters that can be seen, and no quotes or "
                "backslashes, since metrics, log lines and errors have it as it is");
  }
  if (!parts.client) {
    return Fail(Reason::kInvalidConfig, "cluster " + parts.name + ": it has no client");
  }
  const base::MutexLock lock(mu_);
  if (closed_) {
    return Fail(Reason::kInvalidConfig,
                "cluster " + parts.name + ": the manager runs already; add clusters before Run");
  }
  if (std::ranges::any_of(further_,
                          [&parts](const Pointer& each) { return each->name() == parts.name; })) {
    return Fail(Reason::kAlreadyExists,
                "the manager has a cluster named " + parts.name + " already");
  }
  return further_.emplace_back(std::make_shared<Cluster>(std::move(parts)));
}

void Clusters::Close() {
  const base::MutexLock lock(mu_);
  closed_ = true;
}

std::vector<Clusters::Pointer> Clusters::All() const {
  const base::MutexLock lock(mu_);
  std::vector<Pointer> all = {own_};
  all.insert(all.end(), further_.begin(), further_.end());
  return all;
}

void Clusters::StartCaches() const {
  for (const Pointer& cluster : All()) {
    cluster->caches()->Start();
  }
}

bool Clusters::WaitForCaches(const std::stop_token& stop) const {
  return std::ranges::all_of(
      All(), [&stop](const Pointer& cluster) { return cluster->caches()->WaitForCacheSync(stop); });
}

Status Clusters::FirstListsMissing(base::Duration timeout) const {
  std::string text;
  for (const Pointer& cluster : All()) {
    const std::vector<std::string> unsynced = cluster->caches()->Unsynced();
    if (!unsynced.empty()) {
      text += (text.empty() ? "" : "; ") + base::Join(unsynced, "; ") +
              "; the caches did not get their first lists from " + cluster->client()->config().host;
    }
  }
  return {Reason::kTimeout, text + " in " + apimachinery::Duration{timeout.count()}.ToString()};
}

Status Clusters::CachesNotReady() const {
  std::vector<std::string> waiting;
  for (const Pointer& cluster : All()) {
    std::ranges::move(cluster->caches()->Unsynced(), std::back_inserter(waiting));
  }
  return {Reason::kServiceUnavailable,
          waiting.empty() ? "the manager starts" : base::Join(waiting, "; ")};
}

void Clusters::StopRecorders() const {
  const std::vector<Pointer> all = All();
  std::vector<Recorders*> recorders;
  for (const Pointer& cluster : all) {
    recorders.push_back(&cluster->recorders());
  }
  Recorders::StopAll(recorders);
}

}  // namespace kubexx::controller::internal
