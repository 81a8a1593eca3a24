/// @file
/// The memory store's file: records are added at its end and are on the disk before anyone is told.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_APPEND_LOG_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_APPEND_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/internal/file.h"
#include "kubexx/apiserver/storage/internal/record.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::storage::internal {

/// The file, which is locked, and beside which "<path>.lock" keeps other processes out while a new
/// one takes its place; under whatever name they open it. Thread-safe. After a failed write
/// all further ones fail: what the disk then has is not known.
class AppendLog {
 public:
  using Loader = base::FunctionRef<apimachinery::Result<void>(const Record&)>;

  /// Opens or makes the file and hands over its records. Errors as NewMemoryStorage.
  static apimachinery::Result<std::unique_ptr<AppendLog>> Open(const std::string& path,
                                                               Loader loader);
  ~AppendLog();
  AppendLog(const AppendLog&) = delete;
  AppendLog& operator=(const AppendLog&) = delete;

  /// Adds one revision to what the next Sync writes; in the order of revisions. Does no I/O.
  void Add(const Record& record) KX_EXCLUDES(mu_);

  /// Returns when everything up to `revision`, which was added, is on the disk: the last revision
  /// that is. One of the callers at a time writes for all.
  apimachinery::Result<Revision> Sync(Revision revision) KX_EXCLUDES(mu_);

  /// Bytes of the file.
  std::size_t size() const KX_EXCLUDES(mu_);

  /// Opens a new file. One thread at a time rewrites.
  apimachinery::Result<void> OpenNext();
  /// It will have the state at `base`, the last added revision; what is added from now on goes to
  /// both. Does no I/O; the caller holds off Add.
  void StartRewrite(Revision base) KX_EXCLUDES(mu_);
  /// Adds a key of that state to the new file.
  apimachinery::Result<void> RewriteItem(const Record& record);
  /// Puts the new file, with what was added meanwhile, in the place of the old. When anything
  /// failed on the way, the old one stays. Returns as Sync.
  apimachinery::Result<Revision> FinishRewrite() KX_EXCLUDES(mu_);
  /// Ends a rewrite without effect.
  void AbandonRewrite() KX_EXCLUDES(mu_);

 private:
  AppendLog(std::string path, File lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  apimachinery::Result<void> Load(Loader loader);
  apimachinery::Result<void> CutTail(std::uint64_t at);
  std::string next_path() const { return path_ + ".new"; }
  apimachinery::Result<void> SwapFiles(const std::string& tail);

  const std::string path_;
  const File lock_;

  // Only the rewriting thread uses these.
  std::optional<File> next_;
  std::string next_buffer_;

  mutable base::Mutex mu_;
  base::CondVar written_;
  bool writing_ KX_GUARDED_BY(mu_) = false;  // a thread is using file_ without the lock
  File file_;                                // of the thread that set writing_
  apimachinery::Result<void> failure_ KX_GUARDED_BY(mu_);
  std::string pending_ KX_GUARDED_BY(mu_);
  bool rewriting_ KX_GUARDED_BY(mu_) = false;
  std::string since_rewrite_ KX_GUARDED_BY(mu_);
  Revision added_ KX_GUARDED_BY(mu_) = 0;
  Revision durable_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t durable_bytes_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_APPEND_LOG_H_
