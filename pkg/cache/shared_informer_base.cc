#include "kubexx/cache/shared_informer_base.h"

#include <algorithm>
#include <utility>

#include "kubexx/cache/internal/informer/informer_core.h"
#include "kubexx/cache/internal/packed/label_index.h"
#include "kubexx/cache/internal/packed/select_entries.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

namespace {

Result<EntryRef> FindIn(InformerCore& core, const ObjectKey& key) {
  const PackedStore& store = core.store();
  if (EntryRef entry = store.Find(key)) {
    return entry;
  }
  KX_RETURN_IF_ERROR(core.CheckReadable(key.namespace_));
  const auto complete = store.faults().Check(store.ScopeOf(key.namespace_));
  // Looks again, because the object may have come together with the first full state just now.
  if (EntryRef entry = store.Find(key)) {
    return entry;
  }
  if (!complete) {
    return Fail(complete.error().WithContext('"' + key.ToString() + '"'));
  }
  return Fail(Reason::kNotFound, "\"" + key.ToString() + "\" is not in the cache", 404);
}

void ForEachUnpacked(const PackedStore& store, const std::vector<EntryRef>& entries,
                     base::FunctionRef<void(const Object&)> each) {
  for (const EntryRef& entry : entries) {
    if (const auto done = store.Read(*entry, each); !done) {
      store.faults().ReportUndecodable(entry->key(), done.error());
    }
  }
}

// Returns an error when the store lacks objects of a namespace (of any namespace if it is empty).
Result<void> CheckFaults(const PackedStore& store, std::string_view namespace_) {
  return namespace_.empty() ? store.faults().CheckAll()
                            : store.faults().Check(store.ScopeOf(namespace_));
}

// Returns the decoded object, or an error that names it.
Result<UntypedRef> Decode(const PackedStore& store, const Entry& entry, UntypedDecoder decode) {
  Result<UntypedRef> object = nullptr;
  const auto read =
      store.Read(entry, [&object, decode](const Object& raw) { object = decode(raw); });
  if (!read) {
    object = Fail(read.error());
  }
  if (!object) {
    store.faults().CountUndecodable();
    return Fail(store.faults().Named(entry.key(), object.error()));
  }
  return object;
}

Result<void> DecodeAll(const PackedStore& store, const std::vector<EntryRef>& entries,
                       UntypedDecoder decode, base::FunctionRef<void(UntypedRef&&)> each) {
  for (const EntryRef& entry : entries) {
    KX_ASSIGN_OR_RETURN(UntypedRef object, Decode(store, *entry, decode));
    each(std::move(object));
  }
  return {};
}

}  // namespace

SharedInformerBase::SharedInformerBase(std::shared_ptr<ListerWatcher> lister_watcher,
                                       InformerOptions options)
    : core_(std::make_unique<InformerCore>(std::move(lister_watcher), std::move(options))) {}
SharedInformerBase::SharedInformerBase(std::vector<NamespacedSource> sources,
                                       InformerOptions options)
    : core_(std::make_unique<InformerCore>(std::move(sources), std::move(options))) {}
SharedInformerBase::SharedInformerBase(InformerSources&& sources, InformerOptions&& options)
    : core_(sources.all == nullptr
                ? std::make_unique<InformerCore>(std::move(sources.namespaces), std::move(options))
                : std::make_unique<InformerCore>(std::move(sources.all), std::move(options))) {}
SharedInformerBase::~SharedInformerBase() = default;

void SharedInformerBase::Start() { core_->Start(); }
void SharedInformerBase::RequestStop() { core_->RequestStop(); }
void SharedInformerBase::Stop() { core_->Stop(); }
void SharedInformerBase::Retire() { core_->Retire(); }
bool SharedInformerBase::HasEnded() const { return core_->HasEnded(); }
bool SharedInformerBase::OnOwnThread() const { return core_->OnOwnThread(); }
bool SharedInformerBase::HasSynced() const { return core_->HasSynced(); }
bool SharedInformerBase::WaitForSync(std::stop_token stop) const {
  return core_->WaitForSync(stop);
}
Result<void> SharedInformerBase::AwaitSync(std::stop_token stop, base::Duration patience) const {
  return core_->AwaitSync(stop, patience);
}
Result<void> SharedInformerBase::SyncError(std::string_view namespace_) const {
  return core_->SyncError(namespace_);
}
const std::string& SharedInformerBase::name() const { return core_->name(); }
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
    logging::Error("Cannot add an indexer", {{"error", result.error()}});
  }
}

Result<std::shared_ptr<const std::atomic<bool>>> SharedInformerBase::ReplaceNamespace(
    std::string namespace_, std::vector<Object>&& objects) {
  return core_->ReplaceNamespace(std::move(namespace_), std::move(objects));
}

Result<Object> SharedInformerBase::GetRaw(const ObjectKey& key) const {
  KX_ASSIGN_OR_RETURN(const EntryRef entry, FindIn(*core_, key));
  return core_->store().Unpack(*entry);
}

Result<void> SharedInformerBase::ReadRaw(const ObjectKey& key,
                                         base::FunctionRef<void(const Object&)> read) const {
  KX_ASSIGN_OR_RETURN(const EntryRef entry, FindIn(*core_, key));
  return core_->store().Read(*entry, read);
}

Result<UntypedRef> SharedInformerBase::GetDecoded(const ObjectKey& key,
                                                  UntypedDecoder decode) const {
  KX_ASSIGN_OR_RETURN(const EntryRef entry, FindIn(*core_, key));
  return Decode(core_->store(), *entry, decode);
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
Result<void> SharedInformerBase::DecodeEach(std::string_view namespace_, UntypedDecoder decode,
                                            base::FunctionRef<void(UntypedRef&&)> each) const {
  const PackedStore& store = core_->store();
  KX_RETURN_IF_ERROR(core_->CheckReadable(namespace_));
  KX_RETURN_IF_ERROR(CheckFaults(store, namespace_));
  return DecodeAll(store, namespace_.empty() ? store.Entries() : store.EntriesIn(namespace_),
                   decode, each);
}
Result<void> SharedInformerBase::DecodeEachByIndex(
    const IndexTerms& terms, UntypedDecoder decode,
    base::FunctionRef<void(UntypedRef&&)> each) const {
  const PackedStore& store = core_->store();
  const auto one = std::ranges::find(terms, kNamespaceIndex, &IndexTerms::value_type::first);
  const std::string_view namespace_ = one == terms.end() ? std::string_view() : one->second;
  KX_RETURN_IF_ERROR(core_->CheckReadable(namespace_));
  KX_RETURN_IF_ERROR(CheckFaults(store, namespace_));
  std::vector<EntryRef> unread;
  const std::vector<EntryRef> entries = store.EntriesByIndex(terms, &unread);
  for (const EntryRef& entry : unread) {
    // If the object can be decoded, the function of the index is at fault. That was logged, and the
    // object counts as one without a value.
    KX_RETURN_IF_ERROR(Decode(store, *entry, decode));
  }
  return DecodeAll(store, entries, decode, each);
}
bool SharedInformerBase::IndexLabels() const {
  LabelIndex none = LabelIndex::kNone;
  if (label_index_.compare_exchange_strong(none, LabelIndex::kMaking)) {
    if (const auto added = core_->store().AddIndexers(LabelIndexer()); !added) {
      // The index never becomes complete, so lists with a label selector decode every object.
      logging::Error("Cannot index the labels of the objects in a cache",
                     {{"cache", name()}, {"error", added.error()}});
      return false;
    }
    label_index_ = LabelIndex::kMade;
  }
  return label_index_ == LabelIndex::kMade;
}

Result<void> SharedInformerBase::DecodeSelected(const Selection& selection, UntypedDecoder decode,
                                                base::FunctionRef<bool(const void*)> has_labels,
                                                base::FunctionRef<void(UntypedRef&&)> each) const {
  const PackedStore& store = core_->store();
  const std::string namespace_ = selection.SelectedNamespace();
  KX_RETURN_IF_ERROR(core_->CheckReadable(namespace_));
  KX_RETURN_IF_ERROR(CheckFaults(store, namespace_));
  const bool by_label = !selection.labels.empty();
  KX_ASSIGN_OR_RETURN(const SelectedEntries selected,
                      SelectEntries(store, selection, by_label && IndexLabels()));
  for (const EntryRef& entry : selected.unread) {
    KX_RETURN_IF_ERROR(Decode(store, *entry, decode));
  }
  return DecodeAll(store, selected.matching, decode, [&](UntypedRef&& object) {
    if (!by_label || has_labels(object.get())) {
      each(std::move(object));
    }
  });
}

void SharedInformerBase::ForEachRawByIndex(const IndexTerms& terms,
                                           base::FunctionRef<void(const Object&)> each) const {
  ForEachUnpacked(core_->store(), core_->store().EntriesByIndex(terms), each);
}

bool StopAll(const std::vector<std::shared_ptr<SharedInformerBase>>& informers) {
  for (const auto& informer : informers) {
    informer->RequestStop();
  }
  if (std::ranges::any_of(informers, [](const auto& each) { return each->OnOwnThread(); })) {
    return false;
  }
  for (const auto& informer : informers) {
    informer->Stop();
  }
  return true;
}

}  // namespace kubexx::cache
