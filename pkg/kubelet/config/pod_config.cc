#include "kubexx/kubelet/config/pod_config.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/logging/log.h"

namespace kubexx::kubelet {
namespace {

bool IsLocal(std::string_view annotation) {
  return annotation == kConfigSourceAnnotation || annotation == kConfigSeenAnnotation ||
         annotation == kConfigHashAnnotation;
}

std::map<std::string, std::string> OwnAnnotations(const Pod& pod) {
  auto annotations = pod.metadata.annotations;
  std::erase_if(annotations, [](const auto& entry) { return IsLocal(entry.first); });
  return annotations;
}

/// Whether something differs that a node acts on.
bool Differ(const Pod& a, const Pod& b) {
  return a.spec != b.spec || a.metadata.labels != b.metadata.labels ||
         a.metadata.deletion_timestamp != b.metadata.deletion_timestamp ||
         a.metadata.deletion_grace_period_seconds != b.metadata.deletion_grace_period_seconds ||
         OwnAnnotations(a) != OwnAnnotations(b);
}

std::string SeenAt(const Pod& pod) {
  const auto found = pod.metadata.annotations.find(std::string(kConfigSeenAnnotation));
  return found == pod.metadata.annotations.end() ? std::string() : found->second;
}

PodRef Annotated(const Pod& pod, const std::string& source, const std::string& seen) {
  auto copy = std::make_shared<Pod>(pod);
  copy->metadata.annotations[std::string(kConfigSourceAnnotation)] = source;
  copy->metadata.annotations[std::string(kConfigSeenAnnotation)] = seen;
  return copy;
}

std::string FullName(const Pod& pod) { return pod.metadata.namespace_ + "/" + pod.metadata.name; }

}  // namespace

PodSink PodConfig::Channel(std::string source) {
  {
    const base::MutexLock lock(mu_);
    channels_.insert(source);
  }
  return [this, source = std::move(source)](std::vector<Pod> pods) {
    PodUpdate update{.operation = PodOperation::kSet, .source = source};
    for (Pod& pod : pods) {
      update.pods.push_back(std::make_shared<const Pod>(std::move(pod)));
    }
    Merge(update);
  };
}

void PodConfig::Merge(const PodUpdate& update) {
  const base::MutexLock lock(mu_);
  AwaitTurn();
  const Changes changes = ApplyLocked(update);
  Deliver(ToTellLocked(update.source, changes), AllLocked());
}

base::Subscription PodConfig::Subscribe(Consumer consumer) {
  const auto shared = std::make_shared<const Consumer>(std::move(consumer));
  const base::MutexLock lock(mu_);
  AwaitTurn();
  if (!seen_.empty()) {
    Deliver({SnapshotLocked()}, {shared});
  }
  const std::uint64_t id = ++last_id_;
  consumers_.emplace(id, shared);
  return base::Subscription([this, id] {
    const base::MutexLock ending(mu_);
    AwaitTurn();
    consumers_.erase(id);
  });
}

void PodConfig::Sync() {
  const base::MutexLock lock(mu_);
  AwaitTurn();
  Deliver({SnapshotLocked()}, AllLocked());
}

void PodConfig::AwaitTurn() {
  while (delivering_) {
    turn_.wait(mu_);
  }
}

std::vector<std::shared_ptr<const PodConfig::Consumer>> PodConfig::AllLocked() const {
  std::vector<std::shared_ptr<const Consumer>> all;
  for (const auto& [id, consumer] : consumers_) {
    all.push_back(consumer);
  }
  return all;
}

PodUpdate PodConfig::SnapshotLocked() const {
  return {PodOperation::kSet, std::string(kAllSources), StateLocked()};
}

// Gives the lock up while consumers run; whoever else has changes waits for its turn.
void PodConfig::Deliver(const std::vector<PodUpdate>& updates,
                        const std::vector<std::shared_ptr<const Consumer>>& consumers) {
  delivering_ = true;
  mu_.unlock();
  for (const PodUpdate& update : updates) {
    for (const auto& consumer : consumers) {
      (*consumer)(update);
    }
  }
  mu_.lock();
  delivering_ = false;
  turn_.notify_all();
}

PodConfig::Changes PodConfig::ApplyLocked(const PodUpdate& update) {
  Changes changes;
  Pods& pods = sources_[update.source];
  switch (update.operation) {
    case PodOperation::kSet: {
      changes.first_set = seen_.insert(update.source).second;
      const Pods before = std::exchange(pods, {});
      TakePodsLocked(update, before, pods, changes);
      for (const auto& [uid, pod] : before) {
        if (!pods.contains(uid)) {
          changes.removes.push_back(pod);
        }
      }
      break;
    }
    case PodOperation::kRemove:
      for (const PodRef& pod : update.pods) {
        if (const auto found = pods.find(pod->metadata.uid); found != pods.end()) {
          changes.removes.push_back(found->second);
          pods.erase(found);
        }
      }
      break;
    case PodOperation::kAdd:
    case PodOperation::kUpdate:
    case PodOperation::kDelete: {
      const Pods before = pods;
      TakePodsLocked(update, before, pods, changes);
      break;
    }
    case PodOperation::kReconcile:
      break;
  }
  return changes;
}

void PodConfig::TakePodsLocked(const PodUpdate& update, const Pods& before, Pods& pods,
                               Changes& changes) {
  std::set<std::string> names;
  std::set<std::string> uids;
  for (const PodRef& pod : update.pods) {
    if (!names.insert(FullName(*pod)).second) {
      logging::Warning("A source has two pods of one name; the second is ignored",
                       {{"source", update.source}, {"pod", FullName(*pod)}});
      continue;
    }
    const std::string& uid = pod->metadata.uid;
    if (!uids.insert(uid).second) {
      logging::Warning("A source has two pods of one UID; the second is ignored",
                       {{"source", update.source}, {"pod", FullName(*pod)}, {"uid", uid}});
      continue;
    }
    const auto known = before.find(uid);
    if (known == before.end()) {
      const std::string now = apimachinery::MicroTime::From(clock_.Wall()).ToString();
      pods[uid] = Annotated(*pod, update.source, now);
      changes.adds.push_back(pods[uid]);
      continue;
    }
    PodRef taken = Annotated(*pod, update.source, SeenAt(*known->second));
    if (Differ(*known->second, *taken)) {
      (taken->metadata.deletion_timestamp ? changes.deletes : changes.updates).push_back(taken);
    } else if (known->second->status != taken->status) {
      changes.reconciles.push_back(taken);
    } else {
      taken = known->second;
    }
    pods[uid] = std::move(taken);
  }
}

std::vector<PodUpdate> PodConfig::ToTellLocked(const std::string& source,
                                               const Changes& changes) const {
  std::vector<PodUpdate> tell;
  const auto add = [&](PodOperation operation, const std::vector<PodRef>& pods) {
    if (!pods.empty()) {
      tell.push_back({operation, source, pods});
    }
  };
  const bool came_or_went = !changes.adds.empty() || !changes.removes.empty() || changes.first_set;
  const bool changed = !changes.updates.empty() || !changes.deletes.empty();
  if (mode_ == Mode::kSnapshot || (mode_ == Mode::kSnapshotAndUpdates && came_or_went)) {
    if (came_or_went || changed || !changes.reconciles.empty()) {
      tell.push_back(SnapshotLocked());
    }
    return tell;
  }
  add(PodOperation::kRemove, changes.removes);
  add(PodOperation::kAdd, changes.adds);
  add(PodOperation::kUpdate, changes.updates);
  add(PodOperation::kDelete, changes.deletes);
  add(PodOperation::kReconcile, changes.reconciles);
  if (changes.first_set && tell.empty()) {
    tell.push_back({PodOperation::kAdd, source, {}});  // tells that the source is there
  }
  return tell;
}

bool PodConfig::Ready() const { return Missing().empty(); }

std::vector<std::string> PodConfig::Missing() const {
  const base::MutexLock lock(mu_);
  std::vector<std::string> missing;
  std::ranges::set_difference(channels_, seen_, std::back_inserter(missing));
  return missing;
}

std::vector<PodRef> PodConfig::State() const {
  const base::MutexLock lock(mu_);
  return StateLocked();
}

std::vector<PodRef> PodConfig::StateLocked() const {
  std::vector<PodRef> state;
  for (const auto& [source, pods] : sources_) {
    const std::size_t begin = state.size();
    for (const auto& [uid, pod] : pods) {
      state.push_back(pod);
    }
    std::sort(state.begin() + static_cast<std::ptrdiff_t>(begin), state.end(),
              [](const PodRef& a, const PodRef& b) {
                return std::tie(a->metadata.namespace_, a->metadata.name, a->metadata.uid) <
                       std::tie(b->metadata.namespace_, b->metadata.name, b->metadata.uid);
              });
  }
  return state;
}

}  // namespace kubexx::kubelet
