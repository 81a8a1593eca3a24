#include "kubexx/cache/internal/informer/informer_store.h"

#include <exception>
#include <set>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

class InformerStore::TableReplacement final : public Replacement {
 public:
  explicit TableReplacement(InformerStore& owner) : owner_(owner) {}

  Result<void> Add(Object&& object) override {
    const std::uint64_t hash = PackedStore::HashContent(object);
    EntryRef known = owner_.store_.Find(object.key);
    if (known && !object.resource_version.empty() &&
        known->resource_version() == object.resource_version && known->content_hash() == hash) {
      table_.Insert(std::move(known));
      return {};
    }
    if (!owner_.RunTransform(object)) {
      if (known) {
        // The object exists, and only its new state could not be read.
        table_.Insert(std::move(known));
      }
      return {};
    }
    Result<EntryRef> entry = owner_.store_.Pack(object, hash);
    if (!entry) {  // the transform made it unreadable
      return Unreadable(owner_.TooLarge(object, entry.error()));
    }
    table_.Insert(*std::move(entry));
    return {};
  }

  Result<void> Delete(const ObjectKey& key) override {
    table_.Erase(key.namespace_, key.name);
    deleted_.insert(key);
    return {};
  }

  Result<void> Unreadable(const apimachinery::Status& why) override {
    unreadable_.Add(why);
    return {};
  }

  Result<void> Commit(std::string_view resource_version) override {
    return owner_.queue_.Push(ReplaceDelta{.table = std::move(table_),
                                           .resource_version = std::string(resource_version),
                                           .namespace_ = owner_.options_.namespace_,
                                           .unreadable = std::move(unreadable_),
                                           .deleted = std::move(deleted_)});
  }

  Result<void> CommitPart(std::string namespace_, std::shared_ptr<std::atomic<bool>> applied) {
    return owner_.queue_.Push(ReplaceDelta{.table = std::move(table_),
                                           .namespace_ = std::move(namespace_),
                                           .is_part = true,
                                           .applied = std::move(applied),
                                           .unreadable = std::move(unreadable_)});
  }

 private:
  InformerStore& owner_;
  EntryTable table_{};
  cache::Unreadable unreadable_{};
  std::set<ObjectKey> deleted_{};  // these were deleted, and some may have been added again
};

bool InformerStore::RunTransform(Object& object) {
  if (!options_.transform) {
    return true;
  }
  Result<void> result;
  try {
    result = options_.transform(object);
  } catch (const std::exception& e) {
    result = Fail(Reason::kInternalError, e.what());
  } catch (...) {
    result = Fail(Reason::kInternalError, "unknown exception");
  }
  if (!result) {
    options_.dropped.Increment();
    if (const auto others = refused_lines_.Admit()) {
      logging::Error("A transform refused an object", {{"informer", options_.name},
                                                       {"key", object.key.ToString()},
                                                       {"error", result.error()},
                                                       {"others", *others}});
    }
  }
  return result.has_value();
}

apimachinery::Status InformerStore::TooLarge(const Object& object,
                                             const apimachinery::Status& why) const {
  constexpr std::size_t kShown = 256;
  const ObjectKey shown{.namespace_ = object.key.namespace_.substr(0, kShown),
                        .name = object.key.name.substr(0, kShown)};
  if (const auto others = too_large_lines_.Admit()) {
    logging::Error("Cannot cache an object", {{"informer", options_.name},
                                              {"key", shown.ToString()},
                                              {"error", why},
                                              {"others", *others}});
  }
  return why.WithContext('"' + shown.ToString() + '"');
}

Result<void> InformerStore::Upsert(Object&& object) {
  const std::uint64_t hash = PackedStore::HashContent(object);
  std::string version = options_.transform ? object.resource_version : std::string();
  if (!RunTransform(object)) {
    // With the bookmark, callers that wait for this version need not wait for the server's next
    // bookmark.
    return queue_.Push(BookmarkDelta{std::move(version), options_.namespace_.value_or("")});
  }
  // The object is packed here, and not in the informer's thread, so that the thread that allocated
  // the object's memory also frees it.
  auto entry = store_.MakeRecent(object, hash);
  if (!entry) {
    return Unreadable(TooLarge(object, entry.error()));
  }
  return queue_.PushSome(UpsertDelta{std::move(*entry)});
}

Result<void> InformerStore::Delete(Object&& object) {
  const ObjectKey key = object.key;
  if (!RunTransform(object)) {
    object.key = key;
    object.bytes.clear();
  }
  return queue_.PushSome(DeleteDelta{std::move(object)});
}

Result<void> InformerStore::Unreadable(const apimachinery::Status& why) {
  return queue_.Push(UnreadableDelta{why, options_.namespace_.value_or("")});
}

std::unique_ptr<Replacement> InformerStore::BeginReplace() {
  return std::make_unique<TableReplacement>(*this);
}

Result<void> InformerStore::ReplacePart(std::string namespace_, std::vector<Object>&& objects,
                                        std::shared_ptr<std::atomic<bool>> applied) {
  TableReplacement part(*this);
  for (Object& object : objects) {
    if (object.unreadable) {
      KX_RETURN_IF_ERROR(part.Unreadable(*object.unreadable));
      continue;
    }
    KX_RETURN_IF_ERROR(part.Add(std::move(object)));
  }
  return part.CommitPart(std::move(namespace_), std::move(applied));
}

void InformerStore::Bookmark(std::string_view resource_version) {
  // The queue refuses it only when the informer is being stopped.
  (void)queue_.Push(BookmarkDelta{std::string(resource_version), options_.namespace_.value_or("")});
}

}  // namespace kubexx::cache
