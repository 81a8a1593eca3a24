#include "kubexx/apiserver/storage/internal/memory_store.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/internal/errors.h"

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The number of old revisions that each write removes. It is more than the one that the write adds,
// so that the removal keeps up.
constexpr std::size_t kTrimPerWrite = 4;
constexpr std::size_t kPackPerWrite = 8;
// In a large piece of work, other threads get the lock after so many steps.
constexpr std::size_t kSlice = 1024;
// The size of an uncompressed value's place in the list of such values, which counts in addition to
// its bytes.
constexpr std::size_t kRawOverhead = 64;

}  // namespace

MemoryStore::MemoryStore(MemoryOptions options) : options_(std::move(options)) {}

MemoryStore::~MemoryStore() = default;

Result<void> MemoryStore::CheckValue(std::string_view key, const std::string& value) const {
  if (value.size() > options_.max_value_bytes) {
    return Fail(Reason::kRequestEntityTooLarge,
                std::string(key) + " has " + std::to_string(value.size()) +
                    " bytes, more than the store's limit of " +
                    std::to_string(options_.max_value_bytes),
                413);
  }
  return {};
}

void MemoryStore::CompactOldLocked() {
  history_.CompactOld(options_.keep_revisions, options_.clock->Now() - options_.keep_history,
                      visible_);
  if (history_.past_bytes() > options_.keep_history_bytes) {
    history_.CompactLarge(options_.keep_history_bytes, SeenByAllLocked());
    history_.CompactLarge(2 * options_.keep_history_bytes, visible_);
  }
  history_.Trim(kTrimPerWrite);
}

Result<Revision> MemoryStore::ReadableLocked(Revision revision) {
  if (revision == 0) {
    return visible_;
  }
  CompactOldLocked();
  if (revision > visible_) {
    return TooLarge(revision, visible_);
  }
  if (revision < history_.compacted()) {
    return Expired("revision " + std::to_string(revision), history_.compacted());
  }
  return revision;
}

Result<void> MemoryStore::CheckWritableLocked(std::size_t growth) const {
  KX_RETURN_IF_ERROR(CheckFileLocked());
  return file_ ? RoomLocked().CheckGrowth(growth) : Result<void>();
}

Result<void> MemoryStore::CheckFileLocked() const {
  return file_ && file_->suspect() ? file_->Failure() : Result<void>();
}

Item MemoryStore::WriteLocked(std::string_view key, BlobRef value) noexcept {
  const base::TimePoint now = options_.clock->Now();
  Item item = history_.Write(key, std::move(value), now);
  if (item.value) {
    const std::size_t bytes = item.value->bytes.size() + kRawOverhead;
    raw_.push_back({.key = item.key, .mod = item.mod, .bytes = bytes});
    raw_bytes_ += bytes;
  }
  if (file_) {
    Record record;
    record.type = item.value ? Record::Type::kPut : Record::Type::kDelete;
    record.revision = item.mod;
    record.create = item.create;
    record.key = *item.key;
    if (item.value) {
      record.value = item.value->bytes;
    }
    file_->Add(record);
  }
  CompactOldLocked();
  return item;
}

Ticket MemoryStore::TicketLocked(Revision revision) const {
  return file_ ? file_->TicketOf(revision) : Ticket{.era = nullptr, .revision = revision};
}

Result<void> MemoryStore::Finish(Ticket ticket) {
  if (file_) {
    KX_ASSIGN_OR_RETURN(ticket.revision, file_->Sync(ticket, [this] { Undo(); }));
  }
  Publish(ticket.revision);
  PackSome();
  return {};
}

void MemoryStore::Undo() {
  base::MutexLock lock(mu_);
  const Revision kept = file_->EndEra();
  history_.Undo(kept);
  while (!raw_.empty() && raw_.back().mod > kept) {
    raw_bytes_ -= raw_.back().bytes;
    raw_.pop_back();
  }
  rewrite_wanted_.notify_all();
}

void MemoryStore::Publish(Revision revision) {
  base::MutexLock lock(mu_);
  if (revision <= visible_) {
    return;
  }
  const Revision before = std::exchange(visible_, revision);
  WakeLocked(before);
  if (file_ && NeedsFileWorkLocked()) {
    rewrite_wanted_.notify_all();
  }
}

std::vector<std::pair<MemoryStore::RawValue, BlobRef>> MemoryStore::TakeUnpackedLocked() {
  std::vector<std::pair<RawValue, BlobRef>> taken;
  // A value that is not visible yet may be undone, and then its revision would belong to another
  // value.
  while (raw_bytes_ > options_.uncompressed_bytes && !raw_.empty() &&
         raw_.front().mod <= visible_ && taken.size() < kPackPerWrite) {
    RawValue oldest = std::move(raw_.front());
    raw_.pop_front();
    raw_bytes_ -= oldest.bytes;
    Item item = history_.Find(*oldest.key, oldest.mod);
    if (item.mod == oldest.mod && item.value) {
      taken.emplace_back(std::move(oldest), std::move(item.value));
    }
  }
  return taken;
}

void MemoryStore::PackSome() {
  std::vector<std::pair<RawValue, BlobRef>> taken;
  {
    base::MutexLock lock(mu_);
    taken = TakeUnpackedLocked();
  }
  for (auto& [raw, value] : taken) {
    value = packer_.Pack(*raw.key, value);
  }
  if (!taken.empty()) {
    base::MutexLock lock(mu_);
    for (const auto& [raw, value] : taken) {
      history_.Repack(*raw.key, raw.mod, value);
    }
  }
}

Result<KeyValue> MemoryStore::Get(std::string_view key, Revision revision, std::stop_token stop) {
  if (stop.stop_requested()) {
    return Cancelled("get");
  }
  Item item;
  {
    base::MutexLock lock(mu_);
    KX_ASSIGN_OR_RETURN(const Revision at, ReadableLocked(revision));
    item = history_.Find(key, at);
  }
  if (item.mod == 0) {
    return NotFound(key);
  }
  return ToKeyValue(item);
}

Result<KeyValue> MemoryStore::Create(std::string_view key, std::string value,
                                     std::stop_token stop) {
  if (stop.stop_requested()) {
    return Cancelled("create");
  }
  KX_RETURN_IF_ERROR(CheckValue(key, value));
  BlobRef blob = MakeBlob(std::move(value));
  Item item;
  Ticket ticket;
  bool exists = false;
  {
    base::MutexLock lock(mu_);
    item = history_.Find(key, history_.current());
    exists = item.mod != 0;
    if (!exists) {
      KX_RETURN_IF_ERROR(CheckWritableLocked(key.size() + blob->raw_size + kRecordOverhead));
      item = WriteLocked(key, std::move(blob));
    }
    ticket = TicketLocked(item.mod);
  }
  // The state that stands in the way may not be in the file yet, and is not reported before it is.
  KX_RETURN_IF_ERROR(Finish(std::move(ticket)));
  if (exists) {
    return AlreadyExists(key);
  }
  return ToKeyValue(item);
}

Result<Swap> MemoryStore::CompareAndSwap(std::string_view key, Revision expected, std::string value,
                                         std::stop_token stop) {
  if (stop.stop_requested()) {
    return Cancelled("update");
  }
  KX_RETURN_IF_ERROR(CheckValue(key, value));
  BlobRef blob = MakeBlob(std::move(value));
  Swap swap;
  Item item;
  Ticket told;
  {
    base::MutexLock lock(mu_);
    item = history_.Find(key, history_.current());
    swap.done = item.mod != 0 && item.mod == expected;
    if (swap.done) {
      const std::size_t before = item.value->raw_size;
      const std::size_t growth = blob->raw_size > before ? blob->raw_size - before : 0;
      KX_RETURN_IF_ERROR(CheckWritableLocked(growth < kSmallGrowth ? 0 : growth));
      item = WriteLocked(key, std::move(blob));
    }
    told = TicketLocked(item.mod != 0 ? item.mod : history_.current());
  }
  KX_RETURN_IF_ERROR(Finish(std::move(told)));
  KX_ASSIGN_OR_RETURN(swap.current, ToKeyValue(item));
  swap.current.key = std::string(key);
  return swap;
}

Result<Deleted> MemoryStore::Delete(std::string_view key, Revision expected, std::stop_token stop) {
  if (stop.stop_requested()) {
    return Cancelled("delete");
  }
  Item item;
  Revision told = 0;
  Ticket ticket;
  bool fits = false;
  {
    base::MutexLock lock(mu_);
    item = history_.Find(key, history_.current());
    told = item.mod != 0 ? item.mod : history_.current();
    fits = item.mod != 0 && (expected == 0 || expected == item.mod);
    if (fits) {
      KX_RETURN_IF_ERROR(CheckFileLocked());
      told = WriteLocked(key, nullptr).mod;
    }
    ticket = TicketLocked(told);
  }
  KX_RETURN_IF_ERROR(Finish(std::move(ticket)));
  if (item.mod == 0) {
    return NotFound(key);
  }
  if (!fits) {
    return Conflict(key, item.mod, expected);
  }
  KX_ASSIGN_OR_RETURN(KeyValue last, ToKeyValue(item));
  return Deleted{.last = std::move(last), .revision = told};
}

Result<ListResult> MemoryStore::GetList(std::string_view prefix, const ListOptions& options,
                                        ItemSink sink, std::stop_token stop) {
  ListResult result;
  Range range;
  {
    base::MutexLock lock(mu_);
    KX_ASSIGN_OR_RETURN(result.revision, ReadableLocked(options.revision));
    range = history_.List(prefix, options.continue_after, result.revision, options.limit);
  }
  result.remaining = range.remaining;
  result.more = range.remaining > 0;
  if (!range.items.empty()) {
    result.last_key = *range.items.back().key;
  }
  for (Item& item : range.items) {
    if (stop.stop_requested()) {
      return Cancelled("list");
    }
    if (options.keys_only) {
      item.value = nullptr;
    }
    KX_ASSIGN_OR_RETURN(KeyValue kv, ToKeyValue(item));
    item = Item();
    KX_RETURN_IF_ERROR(sink(std::move(kv)));
  }
  return result;
}

Result<std::int64_t> MemoryStore::Count(std::string_view prefix, std::stop_token stop) {
  if (stop.stop_requested()) {
    return Cancelled("count");
  }
  base::MutexLock lock(mu_);
  return history_.Count(prefix, visible_);
}

Result<Revision> MemoryStore::CurrentRevision(std::stop_token stop) {
  if (stop.stop_requested()) {
    return Cancelled("reading the revision");
  }
  base::MutexLock lock(mu_);
  return visible_;
}

Result<void> MemoryStore::Compact(Revision revision, std::stop_token stop) {
  {
    base::MutexLock lock(mu_);
    if (revision > visible_) {
      return CannotCompact(revision);
    }
    if (revision <= history_.compacted()) {
      return Expired("revision " + std::to_string(revision), history_.compacted());
    }
    history_.Compact(revision);
  }
  for (bool more = true; more && !stop.stop_requested();) {
    base::MutexLock lock(mu_);
    more = history_.Trim(kSlice);
  }
  return {};
}

StorageHealth MemoryStore::CheckHealth(base::Duration /*timeout*/, std::stop_token /*stop*/) {
  if (!file_) {
    return {};
  }
  base::MutexLock lock(mu_);
  return {.reads = {}, .writes = CheckWritesLocked()};
}

MemoryUsage MemoryStore::Usage() const {
  MemoryUsage usage;
  {
    base::MutexLock lock(mu_);
    usage.keys = history_.keys();
    usage.revisions = history_.revisions();
    usage.value_bytes = history_.value_bytes();
  }
  usage.file_bytes = file_ ? file_->size() : 0;
  return usage;
}

}  // namespace kubexx::apiserver::storage::internal

namespace kubexx::apiserver::storage {

apimachinery::Result<std::unique_ptr<MemoryStorage>> NewMemoryStorage(MemoryOptions options) {
  auto store = std::make_unique<internal::MemoryStore>(std::move(options));
  KX_RETURN_IF_ERROR(store->Open());
  return std::unique_ptr<MemoryStorage>(std::move(store));
}

}  // namespace kubexx::apiserver::storage
