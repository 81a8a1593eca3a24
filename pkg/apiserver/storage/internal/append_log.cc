#include "kubexx/apiserver/storage/internal/append_log.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The number of bytes that are read at a time.
constexpr std::size_t kChunk = 1 << 20;
// The beginning of the error of a refused write, before the system's message.
constexpr std::string_view kRefusal =
    "nothing was changed, as the store cannot write to its file; make room on its disk or mend it, "
    "and try again";
// The same for a write that may come back after a crash.
constexpr std::string_view kUnsureRefusal =
    "the change was undone, as the store does not know what its file holds now; until it has "
    "rewritten the file, a crash may bring the change back; make room on its disk or repair it, "
    "look at the object, and try again";
// The free space of the disk is checked whenever so many bytes have been written.
constexpr std::size_t kMeasureAfter = 64 << 10;
// A store whose writes have never failed tries to write this much, which is a page.
constexpr std::size_t kFirstProbe = 4096;
// A readable record is searched for up to this many bytes behind an unreadable place.
constexpr std::size_t kScan = 64 << 20;

/// Whether a record behind the unreadable one at `at` shows that the disk already had `at`: either
/// a record that was written after that, or the first record of a rewritten file, because such a
/// file is on the disk before it replaces the former one.
bool WasDurable(std::string_view tail, std::uint64_t at) {
  for (std::size_t place = 1; place < tail.size();) {
    const DecodedRecord decoded = DecodeRecord(tail.substr(place));
    if (decoded.record &&
        (decoded.record->durable > at || decoded.record->type == Record::Type::kBase ||
         decoded.record->type == Record::Type::kItem)) {
      return true;
    }
    place += std::max<std::size_t>(decoded.size, 1);
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<AppendLog>> AppendLog::Open(const std::string& path, Loader loader) {
  KX_ASSIGN_OR_RETURN(File file, File::Open(path, false));
  // A symbolic link is resolved here, so that all its names have the same lock, and a rewritten
  // file does not replace the link. Because of hard links, the file itself is locked.
  std::error_code error;
  std::string resolved = std::filesystem::canonical(path, error).string();
  if (error) {
    return Fail(Reason::kInvalidConfig,
                "cannot find out where " + path + " is: " + error.message());
  }
  KX_ASSIGN_OR_RETURN(File lock, File::Open(resolved + ".lock", false));
  KX_RETURN_IF_ERROR(lock.Lock());
  // Another process may have put a new file there meanwhile.
  KX_ASSIGN_OR_RETURN(file, File::Open(resolved, false));
  KX_RETURN_IF_ERROR(file.Lock());
  std::unique_ptr<AppendLog> log(new AppendLog(std::move(resolved), std::move(lock)));
  log->file_ = std::move(file);
  log->RemoveLeftover();
  KX_RETURN_IF_ERROR(log->Load(loader));
  KX_RETURN_IF_ERROR(SyncFolderOf(log->path_));
  return log;
}

AppendLog::~AppendLog() {
  base::MutexLock lock(mu_);
  apimachinery::Wipe(pending_);
  apimachinery::Wipe(since_rewrite_);
}

void AppendLog::RemoveLeftover() {
  std::error_code error;
  if (!std::filesystem::exists(next_path(), error)) {
    return;
  }
  // The rewrite was ended by a crash. Its file may be what fills the disk.
  if (Result<File> left = File::Open(next_path(), false); left && left->Lock()) {
    std::filesystem::remove(next_path(), error);
  }
}

Result<void> AppendLog::Load(Loader loader) {
  KX_ASSIGN_OR_RETURN(const std::uint64_t size, file_.Size());
  KX_ASSIGN_OR_RETURN(std::string buffer, file_.ReadAt(0, kFileMagic.size()));
  std::uint64_t at = std::min<std::uint64_t>(size, kFileMagic.size());
  if (buffer != kFileMagic.substr(0, at)) {
    return Fail(Reason::kMalformed, path_ + " is not a file of this store; name another file");
  }
  if (at < kFileMagic.size()) {
    if (at > 0) {  // a crash may have left it, or it was cut off
      logging::Warning("The store is empty, as its file had only a part of the first line",
                       {{"file", path_}, {"bytes", at}});
    }
    KX_RETURN_IF_ERROR(file_.Truncate(0));
    KX_RETURN_IF_ERROR(file_.Append(kFileMagic));
    KX_RETURN_IF_ERROR(file_.Sync());
    at = kFileMagic.size();
  }
  buffer.clear();
  Revision last = 0;
  std::size_t used = 0;  // the used part of `buffer`, which holds the file from `at - used` on
  bool end = at >= size;
  while (!end || used < buffer.size()) {
    const DecodedRecord decoded = DecodeRecord(std::string_view(buffer).substr(used));
    if (decoded.record) {
      KX_RETURN_IF_ERROR(loader(*decoded.record));
      last = std::max(last, decoded.record->revision);
      used += decoded.size;
      at += decoded.size;
      continue;
    }
    const std::size_t have = buffer.size() - used;
    if (end || (have >= kRecordHeader && decoded.wanted <= have)) {
      KX_RETURN_IF_ERROR(CutTail(at));
      break;
    }
    KX_ASSIGN_OR_RETURN(std::string more,
                        file_.ReadAt(at + have, std::max(kChunk, decoded.wanted)));
    end = more.empty();
    buffer.erase(0, used);
    used = 0;
    buffer += more;
    apimachinery::Wipe(more);
  }
  apimachinery::Wipe(buffer);
  base::MutexLock lock(mu_);
  added_ = durable_ = last;
  durable_bytes_ = at;
  return {};
}

Result<void> AppendLog::CutTail(std::uint64_t at) {
  KX_ASSIGN_OR_RETURN(const std::uint64_t size, file_.Size());
  KX_ASSIGN_OR_RETURN(std::string tail, file_.ReadAt(at, kScan));
  const bool damaged = WasDurable(tail, at);
  apimachinery::Wipe(tail);
  if (damaged) {
    return Fail(Reason::kMalformed,
                path_ + " is damaged at byte " + std::to_string(at) +
                    ", and what follows was written after it; restore the file from a copy");
  }
  logging::Warning("Removed an unfinished write from the end of the store's file",
                   {{"file", path_}, {"offset", at}, {"bytes", size - at}});
  return file_.Truncate(at);
}

void AppendLog::Add(const Record& record) {
  base::MutexLock lock(mu_);
  Record with_durable = record;
  with_durable.durable = swapping_ ? 0 : durable_bytes_;
  const std::size_t before = pending_.size();
  EncodeRecord(with_durable, pending_);
  CountAdded(pending_.size() - before);
  if (rewriting_) {
    with_durable.durable = 0;  // the rewritten file has other offsets
    EncodeRecord(with_durable, since_rewrite_);
  }
  added_ = record.revision;
}

Ticket AppendLog::TicketOf(Revision revision) const {
  base::MutexLock lock(mu_);
  return {.era = era_, .revision = revision};
}

AppendLog::Attempt AppendLog::TryWrite(std::string_view data, std::uint64_t end) {
  Attempt attempt{.done = file_.Append(data)};
  if (attempt.done) {
    attempt.done = file_.Sync();
    // After a failed sync, neither the part of the file on the disk nor the part in memory is
    // known.
    attempt.suspect = !attempt.done;
  }
  if (!attempt.done && !file_.Truncate(end)) {
    attempt.suspect = true;
  }
  return attempt;
}

Result<Revision> AppendLog::Sync(const Ticket& ticket, Undo undo) {
  std::string batch;
  Revision last = 0;
  std::uint64_t end = 0;
  {
    base::MutexLock lock(mu_);
    for (;;) {
      const bool ended = ticket.era->ended;
      if (ticket.revision <= (ended ? ticket.era->kept : durable_)) {
        return durable_;
      }
      if (ended) {
        return Fail(ticket.era->failure.error());
      }
      if (!writing_) {
        break;
      }
      base::Clock::Real().WaitUntil(mu_, written_, std::stop_token(), base::TimePoint::max());
    }
    writing_ = true;
    batch.swap(pending_);
    last = added_;
    end = durable_bytes_;
  }
  const std::size_t size = batch.size();
  const Attempt attempt = TryWrite(batch, end);
  apimachinery::Wipe(batch);
  if (!attempt.done) {
    Measure();
    return TellFailure(attempt, size, undo);
  }
  bool recovered = false;
  bool measure = false;
  {
    base::MutexLock lock(mu_);
    writing_ = false;
    written_.notify_all();
    durable_ = last;
    durable_bytes_ += size;
    measure = !rewriting_ && unmeasured_ >= kMeasureAfter;
    recovered = !failure_ && size >= failed_bytes_;
    if (recovered) {
      failure_ = {};
    }
  }
  if (measure) {
    Measure();
  }
  if (recovered) {
    TellRecovery();
  }
  return last;
}

void AppendLog::CountAdded(std::size_t bytes) {
  if (free_) {
    *free_ -= std::min<std::uint64_t>(bytes, *free_);
  }
  next_extra_ += rewriting_ ? bytes : 0;
  unmeasured_ += bytes;
}

void AppendLog::Measure() {
  const std::optional<std::uint64_t> free = lock_.Free();
  base::MutexLock lock(mu_);
  if (!rewriting_) {  // the space of a half-written new file would be counted as lost
    free_ = free;
    unmeasured_ = next_extra_ = 0;
    CountAdded(pending_.size());
  }
}

Room AppendLog::RoomFor(std::size_t live) const {
  base::MutexLock lock(mu_);
  return {.file = durable_bytes_ + pending_.size(),
          .live = live,
          .free = free_,
          .next = next_extra_,
          .failing = !failure_};
}

Error AppendLog::TellFailure(const Attempt& attempt, std::size_t bytes, Undo undo) {
  const Error error =
      Fail(attempt.done.error().WithContext(attempt.suspect ? kUnsureRefusal : kRefusal));
  bool first = false;
  {
    base::MutexLock lock(mu_);
    first = failure_.has_value();
    failed_bytes_ = first ? bytes : std::max(failed_bytes_, bytes);
    failure_ = error;
    suspect_ = suspect_ || attempt.suspect;
  }
  undo();
  if (first) {
    logging::Error("Cannot write to the store's file; the store refuses writes until it can",
                   {{"file", path_}, {"error", attempt.done.error()}});
  }
  return error;
}

void AppendLog::TellRecovery() const {
  logging::Info("The store can write to its file again", {{"file", path_}});
}

Revision AppendLog::EndEra() {
  base::MutexLock lock(mu_);
  era_->ended = true;
  era_->kept = durable_;
  era_->failure = failure_;
  era_ = std::make_shared<Era>();
  apimachinery::Wipe(pending_);
  apimachinery::Wipe(since_rewrite_);
  added_ = durable_;
  spoiled_ = rewriting_;
  writing_ = false;
  swapping_ = false;
  written_.notify_all();
  return durable_;
}

void AppendLog::Probe(Undo undo, bool always) {
  std::size_t size = kFirstProbe;
  std::uint64_t end = 0;
  {
    base::MutexLock lock(mu_);
    while (writing_) {  // other threads write, and perhaps less than what has failed
      base::Clock::Real().WaitUntil(mu_, written_, std::stop_token(), base::TimePoint::max());
    }
    if ((failure_ && !always) || suspect_) {
      return;
    }
    writing_ = true;
    size = failure_ ? size : failed_bytes_;
    end = durable_bytes_;
  }
  // No record begins like this, so after a crash it is cut off.
  Attempt attempt = TryWrite(std::string(size, '\0'), end);
  if (attempt.done) {
    attempt.done = file_.Truncate(end);
    attempt.suspect = !attempt.done;
  }
  Measure();
  bool first = false;
  {
    base::MutexLock lock(mu_);
    first = failure_.has_value();
  }
  if (attempt.suspect || (first && !attempt.done)) {
    TellFailure(attempt, size, undo);
    return;
  }
  {
    base::MutexLock lock(mu_);
    writing_ = false;
    written_.notify_all();
    if (attempt.done) {
      failure_ = {};
    }
  }
  if (attempt.done && !first) {
    TellRecovery();
  }
}

Result<void> AppendLog::Failure() const {
  base::MutexLock lock(mu_);
  return failure_;
}

bool AppendLog::suspect() const {
  base::MutexLock lock(mu_);
  return suspect_;
}

std::size_t AppendLog::size() const {
  base::MutexLock lock(mu_);
  return durable_bytes_ + pending_.size();
}

}  // namespace kubexx::apiserver::storage::internal
