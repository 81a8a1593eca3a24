/// @file
/// FakeSource: the list and watch of an API server in memory, with faults on demand.
#ifndef KUBEXX_CACHE_TESTING_FAKE_SOURCE_H_
#define KUBEXX_CACHE_TESTING_FAKE_SOURCE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::cache::testing {

/// A ListerWatcher over a versioned map. It lists at any version, in pages, from a consistent
/// snapshot. It watches from any version in its history, with bookmarks and WatchList. As
/// kube-apiserver, it also watches from a version that it has not reached, and sends nothing until
/// it has passed that version. Thread-safe. Objects are JSON.
class FakeSource final : public ListerWatcher {
 public:
  using Objects = std::map<apimachinery::ObjectKey, Object>;

  /// Creates or changes an object; returns its new version.
  std::string Put(const apimachinery::ObjectKey& key, std::string_view payload);
  /// Stores this object with a new resourceVersion, which it sets in the object.
  std::string PutObject(Object object);
  void Delete(const apimachinery::ObjectKey& key);
  /// Deletes an object with this last state, in which it sets the resourceVersion.
  void DeleteAs(Object last);
  Objects objects() const;
  std::string resource_version() const;

  /// Ends the open watches as a server does when their time is up.
  void DropWatches();
  /// Ends the open watches with an error.
  void BreakWatches(apimachinery::Status status);
  /// Forgets all history, so that watches from earlier versions, and lists that are in progress,
  /// expire.
  void Compact();
  /// Sets the state as if restored from a backup, at `version`, and forgets the history.
  void RestoreBackup(const Objects& backup, std::uint64_t version);
  /// Sends a bookmark at the current version to the open watches.
  void SendBookmark();
  /// Adds an item that cannot be read to lists, until MendUnreadable.
  void PutUnreadable(std::string why);
  void MendUnreadable();
  /// Sends an event that cannot be read to the open watches.
  void SendUnreadable(std::string why);
  /// Refuse the next `times` requests with `status`.
  void FailLists(apimachinery::Status status, int times = 1);
  void FailWatches(apimachinery::Status status, int times = 1);
  /// Lets the next list page, or WatchList, break off after `objects` of its objects.
  void BreakNextListAfter(int objects, apimachinery::Status status);
  /// Refuses WatchList requests from now on, as a server does that does not support them.
  void RefuseWatchList();

  int lists() const;
  int watches() const;
  std::vector<apimachinery::ListOptions> list_requests() const;
  std::vector<apimachinery::ListOptions> watch_requests() const;
  /// Blocks until `n` watch requests have come, including refused ones.
  void AwaitWatches(int n,
                    const base::testing::Where& where = base::testing::Where::current()) const;
  void AwaitLists(int n, const base::testing::Where& where = base::testing::Where::current()) const;
  /// Blocks until a watch is open and has got every change.
  void AwaitCaughtUp(const base::testing::Where& where = base::testing::Where::current()) const;

  apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                             ObjectSink sink, std::stop_token stop) override;
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) override;

 private:
  struct Event {
    std::uint64_t version;
    codec::WatchEventType type;
    Object object;
  };
  struct Fault {
    apimachinery::Status status;
    int times = 0;
  };
  struct Page {
    std::vector<Object> objects{};
    codec::ListMeta meta{};
  };

  struct OpenWatch {
    std::uint64_t id = 0;
    std::uint64_t cursor = 0;
    std::uint64_t drops = 0;
    std::uint64_t bookmarks = 0;
  };

  apimachinery::Result<Page> PageLocked(const apimachinery::ListOptions& options) KX_REQUIRES(mu_);
  apimachinery::Result<std::uint64_t> OpenWatchLocked(const apimachinery::ListOptions& options)
      KX_REQUIRES(mu_);
  apimachinery::Result<void> SendInitial(EventSink sink, std::uint64_t& cursor);
  apimachinery::Result<std::optional<WatchEvent>> NextLocked(OpenWatch& watch,
                                                             const std::stop_token& stop)
      KX_REQUIRES(mu_);
  std::optional<Event> NextEventLocked(std::uint64_t cursor) const KX_REQUIRES(mu_);
  apimachinery::Result<void> Hand(const std::vector<Object>& objects, ObjectSink sink,
                                  const std::stop_token& stop);
  void DeleteLocked(Object last) KX_REQUIRES(mu_);
  void AppendLocked(codec::WatchEventType type, Object object) KX_REQUIRES(mu_);

  mutable base::Mutex mu_;
  mutable base::CondVar changed_;
  std::uint64_t version_ KX_GUARDED_BY(mu_) = 10;
  std::uint64_t compacted_ KX_GUARDED_BY(mu_) = 0;
  Objects objects_ KX_GUARDED_BY(mu_);
  std::deque<Event> history_ KX_GUARDED_BY(mu_);
  std::map<std::uint64_t, std::vector<Object>> snapshots_ KX_GUARDED_BY(mu_);
  std::uint64_t drops_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t bookmarks_ KX_GUARDED_BY(mu_) = 0;
  std::optional<apimachinery::Status> drop_status_ KX_GUARDED_BY(mu_);
  Fault list_fault_ KX_GUARDED_BY(mu_);
  Fault watch_fault_ KX_GUARDED_BY(mu_);
  std::optional<std::pair<int, apimachinery::Status>> list_break_ KX_GUARDED_BY(mu_);
  bool refuse_watch_list_ KX_GUARDED_BY(mu_) = false;
  std::string unreadable_ KX_GUARDED_BY(mu_);
  std::vector<apimachinery::ListOptions> list_requests_ KX_GUARDED_BY(mu_);
  std::vector<apimachinery::ListOptions> watch_requests_ KX_GUARDED_BY(mu_);
  /// The resourceVersion up to which each open watch has got every change.
  std::map<std::uint64_t, std::uint64_t> open_ KX_GUARDED_BY(mu_);
  std::uint64_t next_watch_ KX_GUARDED_BY(mu_) = 0;
};

/// The JSON text of a fake object.
std::string FakeJson(const apimachinery::ObjectKey& key, std::string_view resource_version,
                     std::string_view payload);

}  // namespace kubexx::cache::testing

#endif  // KUBEXX_CACHE_TESTING_FAKE_SOURCE_H_
