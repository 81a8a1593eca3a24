/// @file
/// FakeSourceStore: ConfigMaps and Secrets in memory, for tests of what restores them.
#ifndef KUBEXX_RELOADER_TESTING_FAKE_SOURCE_STORE_H_
#define KUBEXX_RELOADER_TESTING_FAKE_SOURCE_STORE_H_

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/restore/snapshot.h"
#include "kubexx/reloader/restore/source_store.h"

namespace kubexx::reloader {

/// A store whose requests may be made to fail, before or after they have taken effect. Thread-safe.
class FakeSourceStore final : public SourceStore {
 public:
  using Failing = std::function<std::optional<apimachinery::Status>(const std::string& verb,
                                                                    const SourceId& id)>;

  /// Returns the error of a request that does not reach the store: "get", "list", "key", "create",
  /// "update" or "delete". May be empty.
  void FailBefore(Failing fail) {
    const base::MutexLock lock(mu_);
    before_ = std::move(fail);
  }
  /// Likewise, of a request that has been carried out.
  void FailAfter(Failing fail) {
    const base::MutexLock lock(mu_);
    after_ = std::move(fail);
  }
  /// Called before an update is carried out, without a lock: somebody else may write meanwhile.
  void BeforeUpdates(std::function<void(const SourceId&)> call) {
    const base::MutexLock lock(mu_);
    before_updates_ = std::move(call);
  }

  /// A person creates the object or changes its data: the key "a" gets this value.
  void Put(const SourceId& id, const std::string& value) {
    const base::MutexLock lock(mu_);
    const auto [at, is_new] = objects_.try_emplace(id, SourceObject::Empty(id));
    if (is_new) {
      at->second.metadata().uid = "uid-" + std::to_string(++uids_);
    }
    SourceObject::Object object = at->second.object();
    if (auto* secret = std::get_if<api::core::v1::Secret>(&object)) {
      secret->data["a"] = apimachinery::Bytes(value);
    } else {
      std::get<api::core::v1::ConfigMap>(object).data["a"] = value;
    }
    at->second = SourceObject(std::move(object));
    at->second.metadata().resource_version = NextVersionLocked();
  }
  /// A person changes the object in another way.
  void Edit(const SourceId& id, const std::function<void(SourceObject&)>& edit) {
    const base::MutexLock lock(mu_);
    edit(objects_.at(id));
    objects_.at(id).metadata().resource_version = NextVersionLocked();
  }
  void Remove(const SourceId& id) {
    const base::MutexLock lock(mu_);
    objects_.erase(id);
  }

  /// Somebody deletes the key of snapshots, and the next one is this.
  void LoseKey(const std::string& next) {
    const base::MutexLock lock(mu_);
    has_key_ = false;
    key_ = next;
  }
  /// Somebody creates an object, as it is.
  void Plant(SourceObject object) {
    const base::MutexLock lock(mu_);
    object.metadata().uid = "uid-" + std::to_string(++uids_);
    object.metadata().resource_version = NextVersionLocked();
    objects_.insert_or_assign(IdOfObject(object), std::move(object));
  }

  /// The value of the key "a"; empty when there is no such object.
  std::string ValueOf(const SourceId& id) const {
    const base::MutexLock lock(mu_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? std::string() : ValueIn(found->second);
  }
  std::string AnnotationOf(const SourceId& id, const std::string& key) const {
    const base::MutexLock lock(mu_);
    const auto found = objects_.find(id);
    const std::string* value =
        found == objects_.end() ? nullptr : Find(found->second.metadata().annotations, key);
    return value == nullptr ? std::string() : *value;
  }
  /// The snapshots of all sources.
  std::vector<SourceObject> Snapshots() const {
    const base::MutexLock lock(mu_);
    std::vector<SourceObject> snapshots;
    for (const auto& [id, object] : objects_) {
      if (object.metadata().labels.contains(kSnapshotOf)) {
        snapshots.push_back(object);
      }
    }
    return snapshots;
  }
  /// The verbs of all requests, in their order, each followed by a space.
  std::string requests() const {
    const base::MutexLock lock(mu_);
    return requests_;
  }

  static std::string ValueIn(const SourceObject& object) {
    if (const auto* secret = std::get_if<api::core::v1::Secret>(&object.object())) {
      const auto found = secret->data.find("a");
      return found == secret->data.end() ? std::string() : std::string(found->second.view());
    }
    const auto& data = std::get<api::core::v1::ConfigMap>(object.object()).data;
    const auto found = data.find("a");
    return found == data.end() ? std::string() : found->second;
  }

  apimachinery::Result<SourceObject> Get(const SourceId& id,
                                         const std::stop_token& /*stop*/) override {
    KX_RETURN_IF_ERROR(Note("get", id));
    const base::MutexLock lock(mu_);
    const auto found = objects_.find(id);
    if (found == objects_.end()) {
      return apimachinery::Fail(Missing(id));
    }
    return found->second;
  }
  apimachinery::Result<std::vector<SourceObject>> ListSnapshots(
      const SourceId& source, const std::string& uid, const std::stop_token& /*stop*/) override {
    KX_RETURN_IF_ERROR(Note("list", source));
    std::vector<SourceObject> snapshots = Snapshots();
    std::erase_if(snapshots, [&](const SourceObject& each) {
      return each.type() != source.type || each.metadata().labels.at(kSnapshotOf) != uid;
    });
    return snapshots;
  }
  apimachinery::Result<apimachinery::Bytes> Key(bool make,
                                                const std::stop_token& /*stop*/) override {
    KX_RETURN_IF_ERROR(Note("key", {SourceType::kSecret, {"operators", kSnapshotKeySecret}}));
    const base::MutexLock lock(mu_);
    has_key_ = has_key_ || make;
    if (!has_key_) {
      return apimachinery::Fail(Missing({SourceType::kSecret, {"operators", kSnapshotKeySecret}}));
    }
    return apimachinery::Bytes(key_);
  }
  apimachinery::Result<void> Create(const SourceObject& object,
                                    const std::stop_token& /*stop*/) override {
    const SourceId id = IdOfObject(object);
    KX_RETURN_IF_ERROR(Note("create", id));
    {
      const base::MutexLock lock(mu_);
      const auto [at, is_new] = objects_.try_emplace(id, object);
      if (!is_new) {
        return apimachinery::Fail(apimachinery::Reason::kAlreadyExists, "exists");
      }
      at->second.metadata().uid = "uid-" + std::to_string(++uids_);
      at->second.metadata().resource_version = NextVersionLocked();
    }
    return NoteAfter("create", id);
  }
  apimachinery::Result<std::string> Update(const SourceObject& object,
                                           const std::stop_token& /*stop*/) override {
    const SourceId id = IdOfObject(object);
    KX_RETURN_IF_ERROR(Note("update", id));
    std::function<void(const SourceId&)> before_updates;
    {
      const base::MutexLock lock(mu_);
      before_updates = before_updates_;
    }
    if (before_updates) {
      before_updates(id);
    }
    std::string version;
    {
      const base::MutexLock lock(mu_);
      KX_ASSIGN_OR_RETURN(const auto found, FindLocked(id, object));
      found->second = object;
      version = found->second.metadata().resource_version = NextVersionLocked();
    }
    KX_RETURN_IF_ERROR(NoteAfter("update", id));
    return version;
  }
  apimachinery::Result<void> Delete(const SourceObject& object,
                                    const std::stop_token& /*stop*/) override {
    const SourceId id = IdOfObject(object);
    KX_RETURN_IF_ERROR(Note("delete", id));
    {
      const base::MutexLock lock(mu_);
      KX_ASSIGN_OR_RETURN(const auto found, FindLocked(id, object));
      objects_.erase(found);
    }
    return NoteAfter("delete", id);
  }

 private:
  static SourceId IdOfObject(const SourceObject& object) {
    return {object.type(), {object.metadata().namespace_, object.metadata().name}};
  }
  static apimachinery::Status Missing(const SourceId& id) {
    apimachinery::Status status;
    status.reason = apimachinery::Reason::kNotFound;
    status.code = 404;
    status.message = id.key.name + " not found";
    status.details.name = id.key.name;
    return status;
  }
  /// The object that a write is for: an error unless it is there and has the version of `object`.
  apimachinery::Result<std::map<SourceId, SourceObject>::iterator> FindLocked(
      const SourceId& id, const SourceObject& object) KX_REQUIRES(mu_) {
    const auto found = objects_.find(id);
    if (found == objects_.end()) {
      return apimachinery::Fail(Missing(id));
    }
    if (found->second.metadata().resource_version != object.metadata().resource_version) {
      return apimachinery::Fail(apimachinery::Reason::kConflict, "has another version");
    }
    return found;
  }
  std::string NextVersionLocked() KX_REQUIRES(mu_) { return std::to_string(++versions_); }
  apimachinery::Result<void> Note(const std::string& verb, const SourceId& id) {
    Failing fail;
    {
      const base::MutexLock lock(mu_);
      requests_ += verb + " ";
      fail = before_;
    }
    const auto error = fail ? fail(verb, id) : std::nullopt;
    return error ? apimachinery::Result<void>(apimachinery::Fail(*error))
                 : apimachinery::Result<void>();
  }
  apimachinery::Result<void> NoteAfter(const std::string& verb, const SourceId& id) {
    Failing fail;
    {
      const base::MutexLock lock(mu_);
      fail = after_;
    }
    const auto error = fail ? fail(verb, id) : std::nullopt;
    return error ? apimachinery::Result<void>(apimachinery::Fail(*error))
                 : apimachinery::Result<void>();
  }

  mutable base::Mutex mu_;
  std::map<SourceId, SourceObject> objects_ KX_GUARDED_BY(mu_);
  std::string requests_ KX_GUARDED_BY(mu_);
  Failing before_ KX_GUARDED_BY(mu_);
  Failing after_ KX_GUARDED_BY(mu_);
  std::function<void(const SourceId&)> before_updates_ KX_GUARDED_BY(mu_);
  int uids_ KX_GUARDED_BY(mu_) = 0;
  bool has_key_ KX_GUARDED_BY(mu_) = false;
  std::string key_ KX_GUARDED_BY(mu_) = "the first key";
  int versions_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_TESTING_FAKE_SOURCE_STORE_H_
