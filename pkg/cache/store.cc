#include "kubexx/cache/store.h"

#include <utility>

#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

namespace {

class PackedIndexer final : public Indexer {
 public:
  PackedIndexer(Indexers indexers, PackerOptions packer) : store_({.packer = packer}) {
    (void)store_.AddIndexers(std::move(indexers));  // cannot fail: there are no other indexers yet
  }

  Result<void> Add(Object&& object) override {
    KX_ASSIGN_OR_RETURN(EntryRef entry, store_.Pack(object));
    store_.Put(std::move(entry));
    return {};
  }
  Result<void> Update(Object&& object) override { return Add(std::move(object)); }
  Result<void> Delete(Object&& object) override {
    std::vector<PackedStore::Change> changes(1);
    changes[0].key = std::move(object.key);
    changes[0].resource_version = std::move(object.resource_version);
    store_.Apply(changes);
    return {};
  }
  std::unique_ptr<Replacement> BeginReplace() override {
    return std::make_unique<PackedReplacement>(store_);
  }
  void Bookmark(std::string_view resource_version) override {
    store_.SetResourceVersion({}, resource_version);
  }

  Result<Object> Get(const ObjectKey& key) const override {
    const EntryRef entry = store_.Find(key);
    if (!entry) {
      return Fail(Reason::kNotFound, "\"" + key.ToString() + "\" is not in the store", 404);
    }
    return store_.Unpack(*entry);
  }
  std::vector<Object> List() const override { return Unpack(store_.Entries()); }
  std::vector<ObjectKey> Keys() const override { return store_.Keys(); }
  std::size_t Size() const override { return store_.size(); }
  std::string ResourceVersion() const override { return store_.resource_version(); }

  Result<void> AddIndexers(Indexers indexers) override {
    return store_.AddIndexers(std::move(indexers));
  }
  std::vector<Object> ByIndex(const IndexTerms& terms) const override {
    return Unpack(store_.EntriesByIndex(terms));
  }
  std::vector<ObjectKey> KeysByIndex(const IndexTerms& terms) const override {
    return store_.KeysByIndex(terms);
  }
  std::vector<std::string> IndexValues(std::string_view index) const override {
    return store_.IndexValues(index);
  }

 private:
  class PackedReplacement final : public Replacement {
   public:
    explicit PackedReplacement(PackedStore& store) : store_(store) {}
    Result<void> Add(Object&& object) override {
      KX_ASSIGN_OR_RETURN(EntryRef entry, store_.Pack(object));
      table_.Insert(std::move(entry));
      return {};
    }
    Result<void> Delete(const ObjectKey& key) override {
      table_.Erase(key.namespace_, key.name);
      return {};
    }
    Result<void> Commit(std::string_view resource_version) override {
      store_.Swap(std::move(table_), resource_version);
      return {};
    }

   private:
    PackedStore& store_;
    EntryTable table_{};
  };

  // This process packed the entries itself, so an object is left out only when memory was damaged.
  std::vector<Object> Unpack(const std::vector<EntryRef>& entries) const {
    std::vector<Object> objects;
    objects.reserve(entries.size());
    for (const EntryRef& entry : entries) {
      if (auto object = store_.Unpack(*entry)) {
        objects.push_back(std::move(*object));
      }
    }
    return objects;
  }

  PackedStore store_;
};

}  // namespace

Result<void> Store::Replace(std::vector<Object> objects, std::string_view resource_version) {
  const std::unique_ptr<Replacement> replacement = BeginReplace();
  for (Object& object : objects) {
    KX_RETURN_IF_ERROR(replacement->Add(std::move(object)));
  }
  return replacement->Commit(resource_version);
}

Result<void> Store::DeleteKey(const ObjectKey& key) { return Delete(Object{.key = key}); }

std::unique_ptr<Indexer> NewIndexer(Indexers indexers, PackerOptions packer) {
  return std::make_unique<PackedIndexer>(std::move(indexers), packer);
}

}  // namespace kubexx::cache
