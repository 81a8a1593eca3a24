#include <algorithm>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/internal/memory_store.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// After a failed write, another write is tried at this interval without a request, because clients
// that notice that the server is not ready do not send any.
constexpr base::Duration kFirstPatience = std::chrono::seconds(2);
// Rewriting the file is more work, and is tried less and less often.
constexpr base::Duration kMaxPatience = std::chrono::seconds(60);

/// Writes the first record of an empty file.
Result<void> WriteBase(AppendLog& file, Revision base) {
  KX_RETURN_IF_ERROR(file.OpenNext());
  file.StartRewrite(base);
  const Result<Revision> written = file.FinishRewrite([&file] { file.EndEra(); });
  return written ? Result<void>() : Fail(written.error().WithContext("begin the store's file"));
}

}  // namespace

Result<void> MemoryStore::Open() {
  if (options_.file.empty()) {
    base::MutexLock lock(mu_);
    history_.SetBase(options_.base_revision);
    visible_ = history_.current();
    return {};
  }
  const auto load = [this](const Record& record) { return Load(record); };
  Result<std::unique_ptr<AppendLog>> file = AppendLog::Open(options_.file, load);
  if (!file) {
    const Reason reason = file.error().reason;
    apimachinery::Status status = file.error().WithContext("open the store");
    status.reason = reason == Reason::kMalformed ? reason : Reason::kInvalidConfig;
    return Fail(std::move(status));
  }
  bool begins = false;
  {
    base::MutexLock lock(mu_);
    begins = history_.current() == 0 && options_.base_revision > 0;
    if (begins) {
      history_.SetBase(options_.base_revision);
    }
  }
  if (begins) {
    KX_RETURN_IF_ERROR(WriteBase(**file, options_.base_revision));
  }
  {
    base::MutexLock lock(mu_);
    file_ = std::move(*file);
    visible_ = history_.current();
  }
  file_->Measure();
  file_->Probe([this] { Undo(); }, true);  // so that the first health check knows the result
  rewriter_ = std::jthread([this](const std::stop_token& stop) { RewriteLoop(stop); });
  return {};
}

Result<void> MemoryStore::Load(const Record& record) {
  {
    base::MutexLock lock(mu_);
    const bool first = history_.current() == 0 && history_.keys() == 0;
    switch (record.type) {
      case Record::Type::kBase:
        if (!first) {
          return Fail(Reason::kMalformed, options_.file + " is damaged: it has two base records");
        }
        history_.SetBase(record.revision);
        visible_ = record.revision;
        break;
      case Record::Type::kItem:
        if (record.revision > history_.current() || history_.revisions() != 0) {
          return Fail(Reason::kMalformed,
                      options_.file + " is damaged: it has an item after the history began");
        }
        if (history_.Find(record.key, history_.current()).mod != 0) {
          return Fail(Reason::kMalformed, options_.file + " is damaged: its base has a key twice");
        }
        history_.Restore(record.key, MakeBlob(std::string(record.value)), record.create,
                         record.revision);
        raw_.push_back({.key = history_.Find(record.key, record.revision).key,
                        .mod = record.revision,
                        .bytes = record.value.size()});
        raw_bytes_ += record.value.size();
        break;
      case Record::Type::kPut:
      case Record::Type::kDelete: {
        const bool put = record.type == Record::Type::kPut;
        if (record.revision != history_.current() + 1 ||
            (!put && history_.Find(record.key, history_.current()).mod == 0)) {
          return Fail(Reason::kMalformed, options_.file +
                                              " is damaged: it lacks records before revision " +
                                              std::to_string(record.revision));
        }
        visible_ = history_.current();
        WriteLocked(record.key, put ? MakeBlob(std::string(record.value)) : nullptr);
        break;
      }
    }
  }
  PackSome();
  return {};
}

bool MemoryStore::WantsRewriteLocked() const {
  return RoomLocked().WantsRewrite(options_.rewrite_bytes);
}

Room MemoryStore::RoomLocked() const {
  // There is one more record: the base.
  const std::size_t live =
      kFileMagic.size() + history_.live_bytes() + (history_.keys() + 1) * kRecordOverhead;
  return file_->RoomFor(live);
}

Result<void> MemoryStore::CheckWritesLocked() const {
  KX_RETURN_IF_ERROR(file_->Failure());
  return RoomLocked().CheckSomeGrowth(room_is_short_);
}

bool MemoryStore::NeedsFileWorkLocked() const {
  const Room room = RoomLocked();
  return (!room.CheckSomeGrowth(room_is_short_)) != room_is_short_ ||
         (options_.clock->Now() >= rewrite_after_ && room.WantsRewrite(options_.rewrite_bytes));
}

MemoryStore::FileWork MemoryStore::AwaitFileWork(base::Duration patience,
                                                 const std::stop_token& stop) {
  base::TimePoint due = base::TimePoint::max();
  base::MutexLock lock(mu_);
  while (!stop.stop_requested()) {
    const bool failing = !file_->Failure();
    const bool is_short = !failing && !CheckWritesLocked();
    const base::TimePoint now = options_.clock->Now();
    const bool wanted = !file_->suspect() && WantsRewriteLocked();
    if (wanted && now >= rewrite_after_) {
      return FileWork::kRewrite;
    }
    if (!failing && is_short != room_is_short_) {
      return FileWork::kTellRoom;
    }
    if (!failing && !is_short) {
      due = base::TimePoint::max();
    } else if (due == base::TimePoint::max()) {
      due = now + (file_->suspect() ? patience : kFirstPatience);
    } else if (now >= due) {
      return file_->suspect() ? FileWork::kRewrite : FileWork::kProbe;
    }
    const base::TimePoint until = wanted ? std::min(due, rewrite_after_) : due;
    options_.clock->WaitUntil(mu_, rewrite_wanted_, stop, until);
  }
  return FileWork::kNone;
}

base::Duration MemoryStore::RewriteOrAbandon(base::Duration patience, const std::stop_token& stop) {
  const Result<void> done = Rewrite(stop);
  if (!done) {
    file_->AbandonRewrite(done.error());
  }
  const base::Duration next = done ? kFirstPatience : std::min(2 * patience, kMaxPatience);
  bool first = false;
  {
    base::MutexLock lock(mu_);
    first = rewrite_after_ == base::TimePoint::min();
    rewrite_after_ = done ? base::TimePoint::min() : options_.clock->Now() + patience;
  }
  if (!done && first && !file_->suspect() && !stop.stop_requested()) {
    logging::Warning("Cannot rewrite the store's file, so that it keeps growing",
                     {{"file", options_.file}, {"error", done.error()}});
  }
  return next;
}

void MemoryStore::TellRoom() {
  Result<void> room;
  {
    base::MutexLock lock(mu_);
    room = RoomLocked().CheckSomeGrowth(room_is_short_);
    if (room.has_value() != room_is_short_) {
      return;
    }
    room_is_short_ = !room;
  }
  if (!room) {
    logging::Error("The store's disk has too little room; the store refuses writes that need more",
                   {{"file", options_.file}, {"error", room.error()}});
  } else {
    logging::Info("The store's disk has room again", {{"file", options_.file}});
  }
}

void MemoryStore::RewriteLoop(const std::stop_token& stop) {
  base::Duration patience = kFirstPatience;
  while (!stop.stop_requested()) {
    switch (AwaitFileWork(patience, stop)) {
      case FileWork::kNone:
        break;
      case FileWork::kRewrite:
        patience = RewriteOrAbandon(patience, stop);
        file_->Probe([this] { Undo(); });
        break;
      case FileWork::kProbe:
        file_->Measure();
        file_->Probe([this] { Undo(); });
        break;
      case FileWork::kTellRoom:
        TellRoom();
        break;
    }
  }
}

Result<void> MemoryStore::Rewrite(const std::stop_token& stop) {
  Range range;
  KX_RETURN_IF_ERROR(file_->OpenNext());
  {
    base::MutexLock lock(mu_);
    range = history_.List("", "", history_.current(), 0);
    file_->StartRewrite(history_.current());
  }
  for (Item& item : range.items) {
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "rewriting was cancelled");
    }
    KX_ASSIGN_OR_RETURN(const Bytes value, ValueOf(item.value));
    Record record;
    record.type = Record::Type::kItem;
    record.revision = item.mod;
    record.create = item.create;
    record.key = *item.key;
    record.value = *value;
    KX_RETURN_IF_ERROR(file_->RewriteItem(record));
    item = Item();
  }
  KX_ASSIGN_OR_RETURN(const Revision durable, file_->FinishRewrite([this] { Undo(); }));
  Publish(durable);
  return {};
}

}  // namespace kubexx::apiserver::storage::internal
