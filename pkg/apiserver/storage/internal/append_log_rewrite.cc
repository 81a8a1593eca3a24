#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apiserver/storage/internal/append_log.h"

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

// The number of bytes that are written to a new file at a time.
constexpr std::size_t kRewriteChunk = 1 << 20;
// The error of a write that is refused while the file has to be rewritten.
constexpr std::string_view kNotAnew =
    "nothing was changed, as the store has to write its file anew and cannot; make room on its "
    "disk or mend it, and try again";

}  // namespace

Result<void> AppendLog::OpenNext() {
  // The file is locked before it is emptied, because it may belong to somebody else.
  KX_ASSIGN_OR_RETURN(File next, File::Open(next_path(), false));
  KX_RETURN_IF_ERROR(next.Lock());
  next_ = std::move(next);  // from here on it is ours, and is deleted when the rewrite is given up
  return next_->Truncate(0);
}

void AppendLog::StartRewrite(Revision base) {
  Record record;
  record.type = Record::Type::kBase;
  record.revision = base;
  next_buffer_ = kFileMagic;
  EncodeRecord(record, next_buffer_);
  base::MutexLock lock(mu_);
  rewriting_ = true;
  spoiled_ = false;
}

Result<void> AppendLog::RewriteItem(const Record& record) {
  EncodeRecord(record, next_buffer_);
  if (next_buffer_.size() < kRewriteChunk) {
    return {};
  }
  const Result<void> written = next_->Append(next_buffer_);
  apimachinery::Wipe(next_buffer_);
  return written;
}

void AppendLog::AbandonRewrite(const Status& why) {
  if (next_) {
    std::error_code error;
    std::filesystem::remove(next_->path(), error);
    next_.reset();
  }
  {
    base::MutexLock lock(mu_);
    rewriting_ = false;
    apimachinery::Wipe(since_rewrite_);
    apimachinery::Wipe(next_buffer_);
    if (suspect_) {
      failure_ = Fail(why.WithContext(kNotAnew));
    }
  }
  Measure();
}

Result<void> AppendLog::SyncNext() {
  const Result<void> written = next_->Append(next_buffer_);
  apimachinery::Wipe(next_buffer_);
  return written ? next_->Sync() : written;
}

Result<std::uint64_t> AppendLog::SwapFiles(const std::string& tail) {
  KX_RETURN_IF_ERROR(next_->Append(tail));
  KX_RETURN_IF_ERROR(next_->Sync());
  KX_ASSIGN_OR_RETURN(const std::uint64_t size, next_->Size());
  KX_RETURN_IF_ERROR(next_->RenameTo(path_));
  return size;
}

Result<Revision> AppendLog::FinishRewrite(Undo undo) {
  KX_RETURN_IF_ERROR(SyncNext());
  std::string tail;
  std::string not_in_old;
  Revision last = 0;
  {
    base::MutexLock lock(mu_);
    while (writing_) {
      base::Clock::Real().WaitUntil(mu_, written_, std::stop_token(), base::TimePoint::max());
    }
    if (spoiled_) {
      return Fail(Reason::kConflict, "a write that belongs to the new file has failed");
    }
    writing_ = true;
    rewriting_ = false;
    swapping_ = true;
    tail.swap(since_rewrite_);
    not_in_old.swap(pending_);
    last = added_;
  }
  const std::size_t tail_size = tail.size();
  const Result<std::uint64_t> size = SwapFiles(tail);
  Result<void> named = size ? SyncFolderOf(path_) : Result<void>();
  apimachinery::Wipe(tail);
  if (size) {
    file_ = *std::exchange(next_, std::nullopt);
  }
  if (!named) {  // After a crash the old file may be there again: what is only in the new is
                 // undone.
    apimachinery::Wipe(not_in_old);
    return TellFailure({.done = std::move(named), .suspect = true}, tail_size, undo);
  }
  bool recovered = false;
  {
    base::MutexLock lock(mu_);
    writing_ = false;
    swapping_ = false;
    written_.notify_all();
    if (!size) {
      not_in_old += pending_;
      pending_.swap(not_in_old);
    } else {
      durable_ = last;
      durable_bytes_ = *size;
      recovered = !failure_ && suspect_;
      suspect_ = false;
      failure_ = recovered ? Result<void>() : failure_;
    }
  }
  apimachinery::Wipe(not_in_old);
  Measure();
  if (!size) {
    return Fail(size.error());
  }
  if (recovered) {
    TellRecovery();
  }
  return last;
}

}  // namespace kubexx::apiserver::storage::internal
