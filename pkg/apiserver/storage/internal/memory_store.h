/// @file
/// The memory store: a History with its locks, its waiting callers and its file.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_MEMORY_STORE_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_MEMORY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/internal/append_log.h"
#include "kubexx/apiserver/storage/internal/history.h"
#include "kubexx/apiserver/storage/internal/room.h"
#include "kubexx/apiserver/storage/internal/value.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::storage::internal {

/// The store that NewMemoryStorage makes. A write changes the history at once, but readers see it
/// (`visible_`) only once it is in the file, so that nobody acts on a change that a crash would
/// undo.
class MemoryStore final : public MemoryStorage {
 public:
  explicit MemoryStore(MemoryOptions options);
  ~MemoryStore() override;

  /// Reads the file. Must be called before any other function.
  apimachinery::Result<void> Open() KX_EXCLUDES(mu_);

  apimachinery::Result<KeyValue> Get(std::string_view key, Revision revision,
                                     std::stop_token stop) override;
  apimachinery::Result<KeyValue> Create(std::string_view key, std::string value,
                                        std::stop_token stop) override;
  apimachinery::Result<Swap> CompareAndSwap(std::string_view key, Revision expected,
                                            std::string value, std::stop_token stop) override;
  apimachinery::Result<Deleted> Delete(std::string_view key, Revision expected,
                                       std::stop_token stop) override;
  apimachinery::Result<ListResult> GetList(std::string_view prefix, const ListOptions& options,
                                           ItemSink sink, std::stop_token stop) override;
  apimachinery::Result<std::int64_t> Count(std::string_view prefix, std::stop_token stop) override;
  apimachinery::Result<Revision> CurrentRevision(std::stop_token stop) override;
  apimachinery::Result<void> Watch(std::string_view prefix, const WatchOptions& options,
                                   EventSink sink, std::stop_token stop) override;
  void RequestProgress(std::string_view prefix) override;
  apimachinery::Result<void> Compact(Revision revision, std::stop_token stop) override;
  StorageHealth CheckHealth(base::Duration timeout, std::stop_token stop) override;
  MemoryUsage Usage() const override;

 private:
  struct Watcher;
  struct Batch;

  // A value that is not compressed yet: its version and its size.
  struct RawValue {
    std::shared_ptr<const std::string> key{};
    Revision mod = 0;
    std::size_t bytes = 0;
  };

  apimachinery::Result<void> CheckValue(std::string_view key, const std::string& value) const;
  // Returns the revision at which to read when the caller has given this one. First it compacts
  // what has become too old, because no write is needed for that.
  apimachinery::Result<Revision> ReadableLocked(Revision revision) KX_REQUIRES(mu_);
  void CompactOldLocked() KX_REQUIRES(mu_);
  // The revision up to which all watchers have seen the history.
  Revision SeenByAllLocked() const KX_REQUIRES(mu_);
  // Checks whether a revision may be added that is not a deletion and makes the live data grow by
  // so many bytes.
  apimachinery::Result<void> CheckWritableLocked(std::size_t growth) const KX_REQUIRES(mu_);
  // Checks whether the file accepts writes at all. Deletions are accepted even when room is short.
  apimachinery::Result<void> CheckFileLocked() const KX_REQUIRES(mu_);
  // Adds a revision to the history and to the next write of the file.
  /// It must complete everything that it begins. When memory runs out, the process ends, and its
  /// next start finds all acknowledged writes.
  Item WriteLocked(std::string_view key, BlobRef value) noexcept KX_REQUIRES(mu_);
  // Returns a ticket for a revision that is being written, or on which an answer depends.
  Ticket TicketLocked(Revision revision) const KX_REQUIRES(mu_);
  // Returns when the ticket's revision is in the file and visible. Returns an error when it could
  // not be written and was undone.
  apimachinery::Result<void> Finish(Ticket ticket) KX_EXCLUDES(mu_);
  // Undoes the revisions that could not be written to the file.
  void Undo() KX_EXCLUDES(mu_);
  void Publish(Revision revision) KX_EXCLUDES(mu_);
  // Compresses some values that no longer belong to the uncompressed ones.
  void PackSome() KX_EXCLUDES(mu_);
  std::vector<std::pair<RawValue, BlobRef>> TakeUnpackedLocked() KX_REQUIRES(mu_);

  // These are in memory_watch.cc.
  apimachinery::Result<Batch> NextBatch(Watcher& watcher, const std::stop_token& stop)
      KX_EXCLUDES(mu_);
  apimachinery::Result<void> CheckWatcherLocked(Watcher& watcher) const KX_REQUIRES(mu_);
  apimachinery::Result<void> CollectLocked(Watcher& watcher, Batch& batch) KX_REQUIRES(mu_);
  void WakeLocked(Revision before) KX_REQUIRES(mu_);

  // These are in memory_file.cc.
  apimachinery::Result<void> Load(const Record& record) KX_EXCLUDES(mu_);
  void RewriteLoop(const std::stop_token& stop) KX_EXCLUDES(mu_);
  apimachinery::Result<void> Rewrite(const std::stop_token& stop) KX_EXCLUDES(mu_);
  Room RoomLocked() const KX_REQUIRES(mu_);
  // Does the work of Storage::CheckHealth.
  apimachinery::Result<void> CheckWritesLocked() const KX_REQUIRES(mu_);
  bool WantsRewriteLocked() const KX_REQUIRES(mu_);
  // Whether there is work for AwaitFileWork that it has not seen yet.
  bool NeedsFileWorkLocked() const KX_REQUIRES(mu_);
  enum class FileWork : std::uint8_t { kNone, kRewrite, kProbe, kTellRoom };
  // Waits for work on the file. Work that failed is tried again after `patience`.
  FileWork AwaitFileWork(base::Duration patience, const std::stop_token& stop) KX_EXCLUDES(mu_);
  // Rewrites the file, and cleans up after a failure. Returns the pause before another attempt of
  // what failed; `patience` is the last pause.
  base::Duration RewriteOrAbandon(base::Duration patience, const std::stop_token& stop)
      KX_EXCLUDES(mu_);
  // Logs that room has become short, or that it no longer is.
  void TellRoom() KX_EXCLUDES(mu_);

  const MemoryOptions options_;
  ValuePacker packer_;  // destroyed after the values, which refer to it
  std::unique_ptr<AppendLog> file_;

  mutable base::Mutex mu_;  // locked before the mutexes of file_ and packer_
  History history_ KX_GUARDED_BY(mu_);
  Revision visible_ KX_GUARDED_BY(mu_) = 0;
  std::deque<RawValue> raw_ KX_GUARDED_BY(mu_);
  std::size_t raw_bytes_ KX_GUARDED_BY(mu_) = 0;
  std::list<Watcher*> watchers_ KX_GUARDED_BY(mu_);
  base::CondVar rewrite_wanted_;
  // After a rewrite that failed, the next one does not begin before this time.
  base::TimePoint rewrite_after_ KX_GUARDED_BY(mu_) = base::TimePoint::min();
  bool room_is_short_ KX_GUARDED_BY(mu_) = false;  // as it was last logged

  std::jthread rewriter_;
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_MEMORY_STORE_H_
