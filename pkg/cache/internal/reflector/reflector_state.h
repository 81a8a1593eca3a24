/// @file
/// ReflectorState: decides what a Reflector does next. Has no threads, clocks or I/O.
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

/// One step for the Reflector to do.
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
  /// The options of the request. The caller chooses the timeout of a watch.
  apimachinery::ListOptions options{};
  std::string resource_version{};
  /// Whether to drop the replacement and begin a new one first.
  bool restart = false;
  /// Whether to wait first: for one backoff delay, but at least for `min_delay` (the server's
  /// Retry-After).
  bool backoff = false;
  std::chrono::seconds min_delay{0};
  /// The server has said when it will answer: wait for `min_delay` with the backoff's jitter,
  /// however long the backoff's delays are, and do not make those longer.
  bool as_told = false;
  /// The watch has to end soon, because it is not known yet whether this server has reached the
  /// resourceVersion in `options`.
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
  /// It failed with an internal error that is tolerated: the error does not count as a failure.
  bool sit_out = false;
  base::TimePoint when{};  ///< by the reflector's clock
};
/// The answer to kAskVersion.
struct VersionAsked {
  apimachinery::Result<std::string> version{};
  base::TimePoint when{};  ///< by the reflector's clock
};
/// The outcome of a step.
using ReflectorInput =
    std::variant<PageListed, ListFailed, Committed, StoreFailed, WatchEnded, VersionAsked>;

/// The outcome of a step of this kind that an error ended before it had one.
ReflectorInput FailedWith(const apimachinery::Status& status, ReflectorAction::Kind kind,
                          base::TimePoint when);
/// The error that an outcome tells of, with what it was that failed; nothing when there is none.
std::optional<apimachinery::Status> FailureOf(const ReflectorInput& input);

/// The state machine of a Reflector: (state, input) -> (action, next state). A plain value. The
/// rules are those of client-go's `tools/cache/reflector.go` and `tools/pager`, except that a
/// broken watch resumes at the last resourceVersion, whatever the reason. The Reflector lists again
/// only when the server no longer has that version, or does not have it yet, when the store refused
/// a change, or after repeated failures without progress.
///
/// After a server's data were restored from a backup, a watch may start from a version that the
/// server has not reached. kube-apiserver keeps such a watch open and sends only newer changes.
/// Therefore, after the server has refused a watch, the Reflector asks for the server's version
/// before the next watch. After a watch that only broke, the next one begins at once, but on trial:
/// if it ends without anything newer, the Reflector asks then.
class ReflectorState {
 public:
  /// Settings of a ReflectorState.
  struct Options {
    /// The number of objects in a page of a list that etcd serves; 0 disables paging.
    std::int64_t page_size = 500;
    /// Whether to stream the initial state with WatchList. Uses LIST if the server does not support
    /// that.
    bool use_watch_list = true;
    /// Whether to page every list.
    bool force_pages = false;
  };

  explicit ReflectorState(Options options)
      : options_(options), watch_list_supported_(options.use_watch_list) {}

  /// The first action.
  ReflectorAction Start() { return BeginFullState(); }

  /// Returns the action that follows on the outcome of the last one.
  ReflectorAction Next(const ReflectorInput& input);

  /// True while the events of a WatchList are initial ones.
  bool in_initial_events() const { return in_initial_events_; }
  /// Records that the bookmark at the end of the initial events came and the replacement was
  /// committed.
  void InitialEventsEnded(std::string_view resource_version);
  /// Records that the store has taken an event of the watch (after the initial ones).
  void Applied(codec::WatchEventType type, std::string_view resource_version);

  /// Whether `resource_version`, of an event of the watch (after the initial ones) or of the
  /// server's answer to kAskVersion, is older than what is known. This happens only when a server
  /// was restored or started anew. The caller then has to end the watch with kExpired, and the
  /// state is listed again. When that list is no older than what was known, or is older than this
  /// event, the source does not send its versions in order, or sends them late; GoesBack then
  /// returns false for half an hour.
  bool GoesBack(std::string_view resource_version, base::TimePoint now);
  /// Whether GoesBack could return true for this version at any time. It is false for nearly all
  /// events, and the caller need not read a clock for them.
  bool MayGoBack(std::string_view resource_version) const;
  /// Records that something from the source could not be read.
  void Missed() { incomplete_ = true; }

  /// The resourceVersion up to which the store has every change, except those that were missed;
  /// empty before the first full state.
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
  /// The server said that it cannot serve last_rv_, so the most recent state has to be requested
  /// instead.
  bool rv_unusable_ = false;
  /// The version of an event that went back, or empty. When set, the next full state shows whether
  /// the source orders its versions.
  std::string went_back_to_{};
  base::TimePoint went_back_at_{};
  /// The server was unreachable, and has not shown since then that it has reached last_rv_.
  bool on_trial_ = false;
  /// The number of questions for the version in a row that the server did not answer.
  int unanswered_ = 0;
  /// The server answered the last such question with a refusal.
  bool was_denied_ = false;
  /// Until this time the source's versions count as unordered.
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
