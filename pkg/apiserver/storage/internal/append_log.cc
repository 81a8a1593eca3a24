#include "kubexx/apiserver/storage/internal/append_log.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The first bytes of every file; the digit is the version of the format.
constexpr std::string_view kMagic = "kubexx store 1\n";
// So much is read, and written of a new file, at a time.
constexpr std::size_t kChunk = 1 << 20;
// So far behind an unreadable place a readable record is looked for.
constexpr std::size_t kScan = 64 << 20;

/// Whether a record behind the unreadable one at `at` says that the disk had `at` already.
bool WasDurable(std::string_view tail, std::uint64_t at) {
  for (std::size_t place = 1; place < tail.size(); ++place) {
    const DecodedRecord decoded = DecodeRecord(tail.substr(place));
    if (decoded.record) {
      return decoded.record->durable > at;
    }
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<AppendLog>> AppendLog::Open(const std::string& path, Loader loader) {
  KX_ASSIGN_OR_RETURN(File file, File::Open(path, false));
  // A symbolic link is followed here, so that all its names have the same lock, and a rewritten
  // file does not take the place of the link. The file itself is locked for its hard links.
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
  KX_RETURN_IF_ERROR(log->Load(loader));
  KX_RETURN_IF_ERROR(SyncFolderOf(log->path_));
  return log;
}

AppendLog::~AppendLog() {
  base::MutexLock lock(mu_);
  apimachinery::Wipe(pending_);
  apimachinery::Wipe(since_rewrite_);
}

Result<void> AppendLog::Load(Loader loader) {
  KX_ASSIGN_OR_RETURN(const std::uint64_t size, file_.Size());
  KX_ASSIGN_OR_RETURN(std::string buffer, file_.ReadAt(0, kMagic.size()));
  std::uint64_t at = std::min<std::uint64_t>(size, kMagic.size());
  if (buffer != kMagic.substr(0, at)) {
    return Fail(Reason::kMalformed, path_ + " is not a file of this store; name another file");
  }
  if (at < kMagic.size()) {
    KX_RETURN_IF_ERROR(file_.Truncate(0));
    KX_RETURN_IF_ERROR(file_.Append(kMagic));
    KX_RETURN_IF_ERROR(file_.Sync());
    at = kMagic.size();
  }
  buffer.clear();
  std::size_t used = 0;  // of `buffer`, which holds the file from `at - used` on
  bool end = at >= size;
  while (!end || used < buffer.size()) {
    const DecodedRecord decoded = DecodeRecord(std::string_view(buffer).substr(used));
    if (decoded.record) {
      KX_RETURN_IF_ERROR(loader(*decoded.record));
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
  logging::Warning("cut an unfinished write off the end of the store's file",
                   {{"file", path_}, {"offset", at}, {"bytes", size - at}});
  return file_.Truncate(at);
}

void AppendLog::Add(const Record& record) {
  base::MutexLock lock(mu_);
  Record with_durable = record;
  with_durable.durable = durable_bytes_;
  EncodeRecord(with_durable, pending_);
  if (rewriting_) {
    with_durable.durable = 0;  // that file has other offsets
    EncodeRecord(with_durable, since_rewrite_);
  }
  added_ = record.revision;
}

Result<Revision> AppendLog::Sync(Revision revision) {
  std::string batch;
  Revision last = 0;
  {
    base::MutexLock lock(mu_);
    while (writing_ && durable_ < revision && failure_) {
      base::Clock::Real().WaitUntil(mu_, written_, std::stop_token(), base::TimePoint::max());
    }
    if (durable_ >= revision) {
      return durable_;
    }
    if (!failure_) {
      return Fail(failure_.error());
    }
    writing_ = true;
    batch.swap(pending_);
    last = added_;
  }
  Result<void> result = file_.Append(batch);
  if (result) {
    result = file_.Sync();
  }
  const std::size_t size = batch.size();
  apimachinery::Wipe(batch);
  base::MutexLock lock(mu_);
  writing_ = false;
  written_.notify_all();
  if (!result) {
    failure_ = Fail(result.error().WithContext("the store takes no more writes"));
    return Fail(failure_.error());
  }
  durable_ = last;
  durable_bytes_ += size;
  return durable_;
}

std::size_t AppendLog::size() const {
  base::MutexLock lock(mu_);
  return durable_bytes_ + pending_.size();
}

Result<void> AppendLog::OpenNext() {
  KX_ASSIGN_OR_RETURN(next_, File::Open(next_path(), true));
  return next_->Lock();
}

void AppendLog::StartRewrite(Revision base) {
  Record record;
  record.type = Record::Type::kBase;
  record.revision = base;
  next_buffer_ = kMagic;
  EncodeRecord(record, next_buffer_);
  base::MutexLock lock(mu_);
  rewriting_ = true;
}

Result<void> AppendLog::RewriteItem(const Record& record) {
  EncodeRecord(record, next_buffer_);
  if (next_buffer_.size() < kChunk) {
    return {};
  }
  const Result<void> written = next_->Append(next_buffer_);
  apimachinery::Wipe(next_buffer_);
  return written;
}

void AppendLog::AbandonRewrite() {
  base::MutexLock lock(mu_);
  rewriting_ = false;
  apimachinery::Wipe(since_rewrite_);
  apimachinery::Wipe(next_buffer_);
  next_.reset();
}

Result<void> AppendLog::SwapFiles(const std::string& tail) {
  KX_RETURN_IF_ERROR(next_->Append(next_buffer_));
  KX_RETURN_IF_ERROR(next_->Append(tail));
  KX_RETURN_IF_ERROR(next_->Sync());
  return Rename(next_path(), path_);
}

Result<Revision> AppendLog::FinishRewrite() {
  std::string tail;
  std::string not_in_old;
  Revision last = 0;
  {
    base::MutexLock lock(mu_);
    while (writing_) {
      base::Clock::Real().WaitUntil(mu_, written_, std::stop_token(), base::TimePoint::max());
    }
    if (!failure_) {
      return Fail(failure_.error());
    }
    writing_ = true;
    rewriting_ = false;
    tail.swap(since_rewrite_);
    not_in_old.swap(pending_);
    last = added_;
  }
  Result<void> result = SwapFiles(tail);
  Result<std::uint64_t> size = result ? next_->Size() : Result<std::uint64_t>(0);
  const Result<void> named = result ? SyncFolderOf(path_) : Result<void>();
  apimachinery::Wipe(tail);
  apimachinery::Wipe(next_buffer_);
  base::MutexLock lock(mu_);
  writing_ = false;
  written_.notify_all();
  if (!result || !size) {
    not_in_old += pending_;
    pending_.swap(not_in_old);
    apimachinery::Wipe(not_in_old);
    next_.reset();
    return Fail(result ? size.error() : result.error());
  }
  apimachinery::Wipe(not_in_old);
  file_ = *std::exchange(next_, std::nullopt);
  if (!named) {
    failure_ = Fail(named.error().WithContext("the store takes no more writes"));
    return Fail(failure_.error());
  }
  durable_ = last;
  durable_bytes_ = *size;
  return durable_;
}

}  // namespace kubexx::apiserver::storage::internal
