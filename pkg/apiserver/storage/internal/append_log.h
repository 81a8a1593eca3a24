/// @file
/// The file of the memory store. Records are appended to it, and a caller learns of a write only
/// once its record is on the disk.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_APPEND_LOG_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_APPEND_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/internal/file.h"
#include "kubexx/apiserver/storage/internal/record.h"
#include "kubexx/apiserver/storage/internal/room.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::storage::internal {

/// The first bytes of every file; the digit is the version of the format.
inline constexpr std::string_view kFileMagic = "kubexx store 1\n";

/// The time between two failed writes. When an era ends, the records that were added in it and are
/// not on the disk are undone, and the revisions after `kept` are used again. Guarded by the mutex
/// of the AppendLog.
struct Era {
  bool ended = false;
  Revision kept = 0;  ///< the last revision that is on the disk
  apimachinery::Result<void> failure{};
};

/// A revision that a caller waits for to be on the disk.
struct Ticket {
  std::shared_ptr<const Era> era{};
  Revision revision = 0;
};

/// The open, locked file. "<path>.lock" beside it keeps other processes out even while a new file
/// takes its place, under whatever name they open it. Thread-safe.
///
/// When a write fails, the log cuts it off the file again and refuses it, together with all records
/// that were added after it; the next write is tried. When cutting or syncing fails, the content on
/// the disk is unknown: the file is then `suspect`, and nothing may be added until the file has
/// been rewritten. If the process crashes before that, the refused write may come back; its error
/// says so. The log logs the first failure and the recovery, each once.
class AppendLog {
 public:
  using Loader = base::FunctionRef<apimachinery::Result<void>(const Record&)>;
  /// The thread whose write failed calls this. It has to keep other threads from calling Add, call
  /// EndEra, and take back every change after the revision that EndEra returns.
  using Undo = base::FunctionRef<void()>;

  /// Opens or creates the file and hands its records to `loader`. Returns the same errors as
  /// NewMemoryStorage.
  static apimachinery::Result<std::unique_ptr<AppendLog>> Open(const std::string& path,
                                                               Loader loader);
  ~AppendLog();
  AppendLog(const AppendLog&) = delete;
  AppendLog& operator=(const AppendLog&) = delete;

  /// Adds one revision to what the next Sync writes. Must be called in the order of revisions, and
  /// not while the file is suspect. Does no I/O.
  void Add(const Record& record) KX_EXCLUDES(mu_);

  /// Returns the ticket with which Sync waits for `revision`. The caller must prevent concurrent
  /// calls of Add and EndEra.
  Ticket TicketOf(Revision revision) const KX_EXCLUDES(mu_);

  /// Waits until everything up to the ticket's revision is on the disk, and returns the last
  /// revision that is. One caller at a time writes for all of them. Returns kInternalError when the
  /// write failed.
  apimachinery::Result<Revision> Sync(const Ticket& ticket, Undo undo) KX_EXCLUDES(mu_);

  /// Ends the era. Only an Undo function may call it. Returns the last revision that is on the
  /// disk.
  Revision EndEra() KX_EXCLUDES(mu_);

  /// Returns the last failure, until a write of at least the same size has succeeded.
  apimachinery::Result<void> Failure() const KX_EXCLUDES(mu_);
  /// Whether the file has to be rewritten before anything else can be written.
  bool suspect() const KX_EXCLUDES(mu_);
  /// Tries whether writes work again, when they fail or if `always` is true: it writes as many
  /// bytes as the failed write had, or a page when none has failed, and removes them again.
  void Probe(Undo undo, bool always = false) KX_EXCLUDES(mu_);

  /// The size of the file in bytes, including the records that Sync has not written yet.
  std::size_t size() const KX_EXCLUDES(mu_);
  /// The sizes of the file and of its disk as last measured, without I/O. `live` is the size of a
  /// file with the live keys alone.
  Room RoomFor(std::size_t live) const KX_EXCLUDES(mu_);
  /// Measures how much of the disk is free. Writers also do that from time to time.
  void Measure() KX_EXCLUDES(mu_);

  /// First step of a rewrite: opens the new file. Only one thread at a time may rewrite.
  apimachinery::Result<void> OpenNext();
  /// Declares that the new file will hold the state at `base`, which is the last added revision.
  /// Later records go to both files. Does no I/O. The caller must prevent concurrent calls of Add.
  void StartRewrite(Revision base) KX_EXCLUDES(mu_);
  /// Adds a key of the state at `base` to the new file.
  apimachinery::Result<void> RewriteItem(const Record& record);
  /// Replaces the old file with the new one, which then also has the records that were added
  /// meanwhile. The old file stays when any step fails. Returns kConflict when an era has ended
  /// meanwhile, otherwise the same as Sync.
  apimachinery::Result<Revision> FinishRewrite(Undo undo) KX_EXCLUDES(mu_);
  /// Gives up a rewrite and removes the new file.
  void AbandonRewrite(const apimachinery::Status& why) KX_EXCLUDES(mu_);

 private:
  // The result of a write. When the write failed, the file ends where it did before, or is suspect.
  struct Attempt {
    apimachinery::Result<void> done{};
    bool suspect = false;
  };

  AppendLog(std::string path, File lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  void RemoveLeftover();
  apimachinery::Result<void> Load(Loader loader);
  apimachinery::Result<void> CutTail(std::uint64_t at);
  std::string next_path() const { return path_ + ".new"; }
  // Brings what the new file has so far to the disk, so that writers wait only for its last part.
  apimachinery::Result<void> SyncNext();
  apimachinery::Result<std::uint64_t> SwapFiles(const std::string& tail);
  // Writes at `end`, the end of the file. Only the thread that set writing_ calls it.
  Attempt TryWrite(std::string_view data, std::uint64_t end);
  // Ends the era, and with it writing_. Returns the error for the callers whose write failed.
  apimachinery::Error TellFailure(const Attempt& attempt, std::size_t bytes, Undo undo)
      KX_EXCLUDES(mu_);
  void TellRecovery() const;
  // Subtracts the added bytes from the free ones.
  void CountAdded(std::size_t bytes) KX_REQUIRES(mu_);

  const std::string path_;
  const File lock_;

  // Only the thread that rewrites the file uses these.
  std::optional<File> next_;
  std::string next_buffer_;

  mutable base::Mutex mu_;
  base::CondVar written_;
  bool writing_ KX_GUARDED_BY(mu_) = false;  // a thread is using file_ without the lock
  File file_;                                // for the thread that set writing_
  std::shared_ptr<Era> era_ KX_GUARDED_BY(mu_) = std::make_shared<Era>();
  apimachinery::Result<void> failure_ KX_GUARDED_BY(mu_);
  // A write of so many bytes must succeed before the failure is over.
  std::size_t failed_bytes_ KX_GUARDED_BY(mu_) = 0;
  bool suspect_ KX_GUARDED_BY(mu_) = false;
  std::string pending_ KX_GUARDED_BY(mu_);
  bool rewriting_ KX_GUARDED_BY(mu_) = false;
  // It is not known which file has the records that are added.
  bool swapping_ KX_GUARDED_BY(mu_) = false;
  bool spoiled_ KX_GUARDED_BY(mu_) = false;  // the new file has records that were undone
  std::string since_rewrite_ KX_GUARDED_BY(mu_);
  Revision added_ KX_GUARDED_BY(mu_) = 0;
  Revision durable_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t durable_bytes_ KX_GUARDED_BY(mu_) = 0;
  std::optional<std::uint64_t> free_ KX_GUARDED_BY(mu_);
  // The bytes that were added since free_ was measured.
  std::size_t unmeasured_ KX_GUARDED_BY(mu_) = 0;
  // Those of them that are in both files during a rewrite.
  std::size_t next_extra_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_APPEND_LOG_H_
