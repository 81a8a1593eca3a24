#include "kubexx/cache/shared_informer.h"

#include <utility>

#include "kubexx/cache/informer_core.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

namespace {

Result<EntryRef> FindIn(const PackedStore& store, const ObjectKey& key) {
  EntryRef entry = store.Find(key);
  if (!entry) {
    return Fail(Reason::kNotFound, "\"" + key.ToString() + "\" is not in the cache", 404);
  }
  return entry;
}

void ForEachUnpacked(const PackedStore& store, const std::vector<EntryRef>& entries,
                     base::FunctionRef<void(const Object&)> each) {
  for (const EntryRef& entry : entries) {
    if (const auto done = store.Read(*entry, each); !done) {
      ReportUndecodable({.key = entry->key()}, done.error());
    }
  }
}

}  // namespace

SharedInformerBase::SharedInformerBase(std::shared_ptr<ListerWatcher> lister_watcher,
                                       InformerOptions options)
    : core_(std::make_unique<InformerCore>(std::move(lister_watcher), std::move(options))) {}
SharedInformerBase::SharedInformerBase(std::vector<NamespacedSource> sources,
                                       InformerOptions options)
    : core_(std::make_unique<InformerCore>(std::move(sources), std::move(options))) {}
SharedInformerBase::~SharedInformerBase() = default;

void SharedInformerBase::Start() { core_->Start(); }
void SharedInformerBase::Stop() { core_->Stop(); }
bool SharedInformerBase::HasSynced() const { return core_->HasSynced(); }
bool SharedInformerBase::WaitForSync(std::stop_token stop) const {
  return core_->WaitForSync(stop);
}
std::string SharedInformerBase::LastSyncResourceVersion() const {
  return core_->store().resource_version();
}

std::string SharedInformerBase::LastSyncResourceVersion(std::string_view namespace_) const {
  return core_->store().resource_version(namespace_);
}

HandlerRegistration SharedInformerBase::AddRawHandler(std::string name, RawHandler handler,
                                                      HandlerOptions options) {
  return core_->AddHandler(std::move(name), std::move(handler), options);
}
bool SharedInformerBase::HandlerHasSynced(std::string_view name) const {
  return core_->HandlerHasSynced(name);
}

Result<void> SharedInformerBase::AddIndexers(Indexers indexers) {
  return core_->store().AddIndexers(std::move(indexers));
}
void SharedInformerBase::AddIndexer(TermsFunc terms) {
  if (const auto result = core_->store().AddIndexer(std::move(terms)); !result) {
    logging::Error("cannot add an indexer", {{"error", result.error()}});
  }
}

Result<Object> SharedInformerBase::GetRaw(const ObjectKey& key) const {
  KX_ASSIGN_OR_RETURN(const EntryRef entry, FindIn(core_->store(), key));
  return core_->store().Unpack(*entry);
}

Result<void> SharedInformerBase::ReadRaw(const ObjectKey& key,
                                         base::FunctionRef<void(const Object&)> read) const {
  KX_ASSIGN_OR_RETURN(const EntryRef entry, FindIn(core_->store(), key));
  return core_->store().Read(*entry, read);
}

std::vector<ObjectKey> SharedInformerBase::Keys() const { return core_->store().Keys(); }
std::vector<ObjectKey> SharedInformerBase::KeysByIndex(std::string_view index,
                                                       std::string_view value) const {
  return core_->store().KeysByIndex(index, value);
}
std::size_t SharedInformerBase::Size() const { return core_->store().size(); }
std::size_t SharedInformerBase::StoreBytes() const { return core_->store().bytes(); }

std::vector<ObjectKey> SharedInformerBase::KeysByIndex(const IndexTerms& terms) const {
  return core_->store().KeysByIndex(terms);
}
std::size_t SharedInformerBase::CountByIndex(std::string_view index, std::string_view value) const {
  return core_->store().CountByIndex(index, value);
}
std::vector<std::string> SharedInformerBase::IndexValues(std::string_view index) const {
  return core_->store().IndexValues(index);
}
bool SharedInformerBase::Contains(const ObjectKey& key) const {
  return core_->store().Contains(key);
}

void SharedInformerBase::ForEachRaw(base::FunctionRef<void(const Object&)> each) const {
  ForEachRaw({}, each);
}
void SharedInformerBase::ForEachRaw(std::string_view namespace_,
                                    base::FunctionRef<void(const Object&)> each) const {
  const PackedStore& store = core_->store();
  ForEachUnpacked(store, namespace_.empty() ? store.Entries() : store.EntriesIn(namespace_), each);
}
void SharedInformerBase::ForEachRawByIndex(const IndexTerms& terms,
                                           base::FunctionRef<void(const Object&)> each) const {
  ForEachUnpacked(core_->store(), core_->store().EntriesByIndex(terms), each);
}

void ReportUndecodable(const Object& raw, const apimachinery::Status& status) {
  logging::Error("cannot decode a cached object", {{"key", raw.key.ToString()}, {"error", status}});
}

}  // namespace kubexx::cache
