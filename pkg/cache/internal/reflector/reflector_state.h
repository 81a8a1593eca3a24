/// @file
/// What a Reflector does next: the decisions of list and watch, without threads, clocks or I/O.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_STATE_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_STATE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx::cache {

/// One thing to do.
struct ReflectorAction {
  enum class Kind : std::uint8_t {
    kListPage,    ///< request a page; its objects go into the replacement
    kWatchList,   ///< watch with initial events; until these have ended, events go into the
                  ///< replacement
    kCommit,      ///< commit the replacement at `resource_version`
    kWatch,       ///< watch; events go to the store
    kAskVersion,  ///< ask for the server's current version
  };
  Kind kind = Kind::kListPage;
  /// Of the request; the timeout of a watch is the caller's to choose.
  apimachinery::ListOptions options{};
  std::string resource_version{};
  /// Throw the replacement away and begin a new one first.
  bool restart = false;
  /// Wait first: one backoff delay, and no less than `min_delay` (the server's Retry-After).
  bool backoff = false;
  std::chrono::seconds min_delay{0};
  /// The server knows when it will answer: `min_delay` with the backoff's jitter is enough, however
  /// far the backoff has grown, and it does not grow.
  bool as_told = false;
  /// Of a watch: it is to end soon, as nobody knows yet whether this server has what `options`
  /// name.
  bool on_trial = false;
};

/// A page was read to its end.
struct PageListed {
  codec::ListMeta meta{};
};
/// A page could not be read.
struct ListFailed {
  apimachinery::Status status{};
};
/// The replacement is in the store.
struct Committed {};
/// The store refused an object, an event or the commit.
struct StoreFailed {
  apimachinery::Status status{};
};
/// A watch, or a WatchList, has ended.
struct WatchEnded {
  apimachinery::Result<void> result{};  ///< success: the server or the connection closed it
  bool made_progress = false;           ///< it delivered at least one event
  bool was_short = false;               ///< it lasted less than a second
  /// An internal error that is to be sat out: it does not count as a failure.
  bool sit_out = false;
  base::TimePoint when{};  ///< by the reflector's clock
};
/// The answer to kAskVersion.
struct VersionAsked {
  apimachinery::Result<std::string> version{};
  base::TimePoint when{};  ///< by the reflector's clock
};
/// What a list or a watch has met with.
using ReflectorInput =
    std::variant<PageListed, ListFailed, Committed, StoreFailed, WatchEnded, VersionAsked>;

/// The state machine of a Reflector: (state, input) -> (action, next state). A plain value. The
/// rules are those of client-go's `tools/cache/reflector.go` and `tools/pager`, but a watch that
/// breaks, whatever the reason, resumes at the last resourceVersion; only a version that the server
/// no longer has, or does not have yet, a store's refusal, or repeated failure without progress
/// makes it list again.
///
/// A server whose data was restored says nothing to a watch from a version that it has not reached:
/// kube-apiserver keeps such a watch open and sends only what is newer. So after a watch that was
/// refused the server is asked for its version before the next one begins. After one that only
/// broke the next begins at once, but on trial: unless something newer comes, the server is asked
/// when it has ended.
class ReflectorState {
 public:
  /// Settings of a ReflectorState.
  struct Options {
    /// Objects in a page of a list that etcd serves; 0 switches paging off.
    std::int64_t page_size = 500;
    /// Stream the initial state with WatchList; falls back to LIST where the server cannot.
    bool use_watch_list = true;
    /// Page every list.
    bool force_pages = false;
  };

  explicit ReflectorState(Options options)
      : options_(options), watch_list_supported_(options.use_watch_list) {}

  /// The first action.
  ReflectorAction Start() { return BeginFullState(); }

  /// The action that follows from what became of the last one.
  ReflectorAction Next(const ReflectorInput& input);

  /// True while the events of a WatchList are initial ones.
  bool in_initial_events() const { return in_initial_events_; }
  /// The bookmark at the end of the initial events came and the replacement has been committed.
  void InitialEventsEnded(std::string_view resource_version);
  /// The store has taken an event of the watch (after the initial ones).
  void Applied(codec::WatchEventType type, std::string_view resource_version);

  /// Whether an event of the watch (after the initial ones), or the version that the server tells,
  /// is from before what is known. A server sends no such event; one that was restored, or started
  /// anew, may. Then the watch is to be
  /// ended with kExpired, and the state is listed afresh. A list that is no older than what was
  /// known, or that is older than this event, comes from a source that does not order its versions,
  /// or late: the question is not asked again for half an hour.
  bool GoesBack(std::string_view resource_version, base::TimePoint now);
  /// Whether GoesBack may say yes to that version at some time: of nearly all events not, and no
  /// clock needs to be read for them.
  bool MayGoBack(std::string_view resource_version) const;
  /// Something that the source sent could not be read.
  void Missed() { incomplete_ = true; }

  /// Every change up to it is in the store, but for what was missed; empty before the first full
  /// state.
  const std::string& last_resource_version() const { return last_rv_; }

 private:
  using Status = apimachinery::Status;

  ReflectorAction On(const PageListed& input);
  ReflectorAction On(const ListFailed& input);
  ReflectorAction On(const Committed& input);
  ReflectorAction On(const StoreFailed& input);
  ReflectorAction On(const WatchEnded& input);
  ReflectorAction On(const VersionAsked& input);
  ReflectorAction OnWatchListEnded(const WatchEnded& input);

  void HeedRetryAfter(ReflectorAction& action);
  ReflectorAction BeginFullState();
  bool MayListAtOnce(base::TimePoint now);
  ReflectorAction BeginList();
  ReflectorAction BeginWatch();
  ReflectorAction AskVersion();
  void Synced(std::string_view resource_version);

  Options options_;
  bool watch_list_supported_;

  std::string last_rv_{};
  /// The server said that it cannot serve last_rv_: ask for the most recent state instead.
  bool rv_unusable_ = false;
  /// The version of an event that has gone back, or empty: is the next full state between it and
  /// last_rv_?
  std::string went_back_to_{};
  base::TimePoint went_back_at_{};
  /// The server was out of reach, and has not shown since that it has reached last_rv_.
  bool on_trial_ = false;
  /// Questions for the version in a row that no server answered.
  int unanswered_ = 0;
  /// The last answer to such a question was that it may not be asked.
  bool was_denied_ = false;
  /// Until then its versions are taken for unordered.
  base::TimePoint ordered_from_{};
  /// Something was missed since the last full state began.
  bool incomplete_ = false;
  /// The server answered a list at "0" in pages: it has no watch cache, so paging stays on.
  bool server_pages_ = false;

  // Of the list that is going on.
  apimachinery::ListOptions page_{};
  std::string first_page_rv_{};
  std::string list_rv_{};
  bool first_page_ = true;
  bool full_list_tried_ = false;
  bool fresh_tried_ = false;
  int page_retries_ = 0;

  // Of the watch that is going on.
  bool in_initial_events_ = false;
  std::string watch_list_rv_{};
  int watch_list_attempts_ = 0;
  /// The watch began without a version: its ADDED events are not in order of their versions.
  bool hold_rv_ = false;
  /// Watches that failed in a row without an event.
  int failures_ = 0;
  /// When a watch was last followed by a full state without a delay.
  std::optional<base::TimePoint> listed_at_once_{};
  /// Watches in a row that lasted less than a second.
  int short_watches_ = 0;
  /// Delays in a row that the server's Retry-After gave.
  int told_delays_ = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_STATE_H_
