/// @file
/// The memory store's file: records are added at its end and are on the disk before anyone is told.
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

/// The time between two failures to write. What was added in it and is not on the disk at its end
/// is undone, and revisions after `kept` are given out again. Guarded by the lock of the AppendLog.
struct Era {
  bool ended = false;
  Revision kept = 0;  ///< the last revision that is on the disk
  apimachinery::Result<void> failure{};
};

/// A revision that somebody wants to be on the disk.
struct Ticket {
  std::shared_ptr<const Era> era{};
  Revision revision = 0;
};

/// The file, which is locked, and beside which "<path>.lock" keeps other processes out while a new
/// one takes its place; under whatever name they open it. Thread-safe.
///
/// A write that fails is cut off the file again and refused, with all that were added behind it;
/// the next one is tried. When the cut fails, or a sync, what the disk has is not known: the file
/// is then `suspect`, and nothing may be added until it has been written anew; a crash before that
/// may bring the refused write back, which its error says. The failure, and that it is over, are
/// logged once.
class AppendLog {
 public:
  using Loader = base::FunctionRef<apimachinery::Result<void>(const Record&)>;
  /// Called by a thread whose write failed: has to keep others from Add, call EndEra and take back
  /// what came after the revision which that returns.
  using Undo = base::FunctionRef<void()>;

  /// Opens or makes the file and hands over its records. Errors as NewMemoryStorage.
  static apimachinery::Result<std::unique_ptr<AppendLog>> Open(const std::string& path,
                                                               Loader loader);
  ~AppendLog();
  AppendLog(const AppendLog&) = delete;
  AppendLog& operator=(const AppendLog&) = delete;

  /// Adds one revision to what the next Sync writes; in the order of revisions, and not while the
  /// file is suspect. Does no I/O.
  void Add(const Record& record) KX_EXCLUDES(mu_);

  /// What to wait for to have `revision` on the disk; the caller holds off Add and EndEra.
  Ticket TicketOf(Revision revision) const KX_EXCLUDES(mu_);

  /// Returns when everything up to the ticket's revision is on the disk: the last revision that is.
  /// One of the callers at a time writes for all. kInternalError when it could not be written.
  apimachinery::Result<Revision> Sync(const Ticket& ticket, Undo undo) KX_EXCLUDES(mu_);

  /// Ends the era in an Undo; returns the last revision that is on the disk.
  Revision EndEra() KX_EXCLUDES(mu_);

  /// Why writes fail: the last failure, until as much as then has been written.
  apimachinery::Result<void> Failure() const KX_EXCLUDES(mu_);
  /// Whether the file has to be written anew before anything else is written.
  bool suspect() const KX_EXCLUDES(mu_);
  /// When writes fail, or with `always`: tries whether as much as then can be written now, and
  /// takes it back.
  void Probe(Undo undo, bool always = false) KX_EXCLUDES(mu_);

  /// Bytes of the file.
  std::size_t size() const KX_EXCLUDES(mu_);
  /// The file and its disk, as far as is known without a look at it, when `live` is live.
  Room RoomFor(std::size_t live) const KX_EXCLUDES(mu_);
  /// Looks how much is free there; otherwise that is done now and then by those who write.
  void Measure() KX_EXCLUDES(mu_);

  /// Opens a new file. One thread at a time rewrites.
  apimachinery::Result<void> OpenNext();
  /// It will have the state at `base`, the last added revision; what is added from now on goes to
  /// both. Does no I/O; the caller holds off Add.
  void StartRewrite(Revision base) KX_EXCLUDES(mu_);
  /// Adds a key of that state to the new file.
  apimachinery::Result<void> RewriteItem(const Record& record);
  /// Puts the new file, with what was added meanwhile, in the place of the old. When anything
  /// failed on the way, the old one stays. kConflict when an era has ended meanwhile. Returns as
  /// Sync.
  apimachinery::Result<Revision> FinishRewrite(Undo undo) KX_EXCLUDES(mu_);
  /// Ends a rewrite without effect, and removes the new file.
  void AbandonRewrite(const apimachinery::Status& why) KX_EXCLUDES(mu_);

 private:
  // What came of a write; when it failed the file ends where it did before, or is suspect.
  struct Attempt {
    apimachinery::Result<void> done{};
    bool suspect = false;
  };

  AppendLog(std::string path, File lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  void RemoveLeftover();
  apimachinery::Result<void> Load(Loader loader);
  apimachinery::Result<void> CutTail(std::uint64_t at);
  std::string next_path() const { return path_ + ".new"; }
  // Brings what the new file has so far to the disk, so that writers wait for its tail alone.
  apimachinery::Result<void> SyncNext();
  apimachinery::Result<std::uint64_t> SwapFiles(const std::string& tail);
  // Writes behind `end`, the end of the file. By the thread that set writing_.
  Attempt TryWrite(std::string_view data, std::uint64_t end);
  // Ends the era, and with it writing_. The error for those who wrote.
  apimachinery::Error TellFailure(const Attempt& attempt, std::size_t bytes, Undo undo)
      KX_EXCLUDES(mu_);
  void TellRecovery() const;
  // Takes what is added off what is free.
  void CountAdded(std::size_t bytes) KX_REQUIRES(mu_);

  const std::string path_;
  const File lock_;

  // Only the rewriting thread uses these.
  std::optional<File> next_;
  std::string next_buffer_;

  mutable base::Mutex mu_;
  base::CondVar written_;
  bool writing_ KX_GUARDED_BY(mu_) = false;  // a thread is using file_ without the lock
  File file_;                                // of the thread that set writing_
  std::shared_ptr<Era> era_ KX_GUARDED_BY(mu_) = std::make_shared<Era>();
  apimachinery::Result<void> failure_ KX_GUARDED_BY(mu_);
  std::size_t failed_bytes_ KX_GUARDED_BY(mu_) = 0;  // that have to be written for it to be over
  bool suspect_ KX_GUARDED_BY(mu_) = false;
  std::string pending_ KX_GUARDED_BY(mu_);
  bool rewriting_ KX_GUARDED_BY(mu_) = false;
  bool swapping_ KX_GUARDED_BY(mu_) = false;  // which file will have what is added is not known
  bool spoiled_ KX_GUARDED_BY(mu_) = false;   // the rewrite has what was undone
  std::string since_rewrite_ KX_GUARDED_BY(mu_);
  Revision added_ KX_GUARDED_BY(mu_) = 0;
  Revision durable_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t durable_bytes_ KX_GUARDED_BY(mu_) = 0;
  std::optional<std::uint64_t> free_ KX_GUARDED_BY(mu_);
  std::size_t unmeasured_ KX_GUARDED_BY(mu_) = 0;  // bytes added since free_ was measured
  std::size_t next_extra_ KX_GUARDED_BY(mu_) = 0;  // of them, during a rewrite: the next has them
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_APPEND_LOG_H_
