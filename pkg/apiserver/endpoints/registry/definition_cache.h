/// @file
/// Caches values that are computed from the stored definitions of custom resources, so that
/// unchanged definitions are not parsed again.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_DEFINITION_CACHE_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_DEFINITION_CACHE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Hands the keys of all stored definitions to `sink`, without their values. Returns the revision
/// of that state.
apimachinery::Result<storage::Revision> ForEachStoredDefinition(storage::Storage& storage,
                                                                storage::Storage::ItemSink sink,
                                                                const std::stop_token& stop);

/// Parses a stored definition. When it cannot be read, logs that and returns std::nullopt.
std::optional<codec::JsonTree> ParseStoredDefinition(const storage::KeyValue& kv);

/// Holds one T for each stored definition. It reads a definition and makes its T again only when
/// the definition has changed since the last call, so that one more definition costs little on a
/// server with thousands. Thread-safe.
template <typename T>
class DefinitionCache {
 public:
  using Ref = std::shared_ptr<const T>;

  /// The result of Read.
  struct Found {
    std::vector<Ref> all{};
    /// The revision of the state that was read.
    storage::Revision revision = 0;
  };

  /// `make` computes a T. It is called on the threads that call Read, and no lock is held.
  explicit DefinitionCache(std::function<T(codec::JsonTree definition)> make)
      : make_(std::move(make)) {}

  /// Returns the T of each definition that is stored now and can be read, in the order of their
  /// names. Returns errors of the storage.
  apimachinery::Result<Found> Read(storage::Storage& storage, const std::stop_token& stop) {
    const std::shared_ptr<const Entries> before = Last();
    auto now = std::make_shared<Entries>();
    std::vector<typename Entries::iterator> changed;
    KX_ASSIGN_OR_RETURN(const storage::Revision revision,
                        ForEachStoredDefinition(
                            storage,
                            [&](storage::KeyValue&& kv) -> apimachinery::Result<void> {
                              const auto old = before->find(kv.key);
                              const bool same =
                                  old != before->end() && old->second.revision == kv.mod_revision;
                              const auto at = now->emplace_hint(now->end(), std::move(kv.key),
                                                                same ? old->second : Entry());
                              if (!same) {
                                changed.push_back(at);
                              }
                              return {};
                            },
                            stop));
    for (const auto& at : changed) {
      KX_ASSIGN_OR_RETURN(const storage::KeyValue kv, storage.Get(at->first, revision, stop));
      at->second = MakeEntry(kv);
    }
    Found found{.revision = revision};
    found.all.reserve(now->size());
    for (const auto& [key, entry] : *now) {
      if (entry.made != nullptr) {
        found.all.push_back(entry.made);
      }
    }
    const base::MutexLock lock(mu_);
    last_ = std::move(now);
    return found;
  }

 private:
  struct Entry {
    storage::Revision revision = 0;
    Ref made{};  // null: it cannot be read
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  std::shared_ptr<const Entries> Last() const {
    const base::MutexLock lock(mu_);
    return last_;
  }
  Entry MakeEntry(const storage::KeyValue& kv) const {
    std::optional<codec::JsonTree> definition = ParseStoredDefinition(kv);
    return {
        .revision = kv.mod_revision,
        .made = definition ? std::make_shared<const T>(make_(*std::move(definition))) : nullptr};
  }

  const std::function<T(codec::JsonTree)> make_;
  mutable base::Mutex mu_;
  std::shared_ptr<const Entries> last_ KX_GUARDED_BY(mu_) = std::make_shared<const Entries>();
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_DEFINITION_CACHE_H_
