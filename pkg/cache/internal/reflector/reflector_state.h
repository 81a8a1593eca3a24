/// @file
/// ReflectorState: decides what a Reflector does next. It has no threads, clocks or I/O.
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

/// One step that the Reflector has to do.
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
  /// Whether to wait first for one delay of the backoff, and for at least `min_delay`, which is the
  /// server's Retry-After.
  bool backoff = false;
  std::chrono::seconds min_delay{0};
  /// Whether the server has said when it will answer. Then the wait is `min_delay` with the
  /// backoff's jitter, however long the backoff's delays are, and it does not make those longer.
  bool as_told = false;
  /// Whether the watch has to end soon, because it is not known yet whether this server has reached
  /// the resourceVersion in `options`.
  bool on_trial = false;
};

/// The page was read to its end.
struct PageListed {
  codec::ListMeta meta{};
};
/// The page could not be read.
struct ListFailed {
  apimachinery::Status status{};
};
/// The store has the replacement.
struct Committed {};
/// The store refused an object, an event or the commit.
struct StoreFailed {
  apimachinery::Status status{};
};
/// The watch, or the WatchList, has ended.
struct WatchEnded {
  apimachinery::Result<void> result{};  ///< success: the server or the connection closed it
  bool made_progress = false;           ///< it delivered at least one event
  bool was_short = false;               ///< it lasted less than a second
  /// Whether the watch failed with an internal error that is tolerated. Such an error does not
  /// count as a failure.
  bool sit_out = false;
  base::TimePoint when{};  ///< by the reflector's clock
};
/// The server's answer to kAskVersion.
struct VersionAsked {
  apimachinery::Result<std::string> version{};
  base::TimePoint when{};  ///< by the reflector's clock
};
/// The outcome of one step.
using ReflectorInput =
    std::variant<PageListed, ListFailed, Committed, StoreFailed, WatchEnded, VersionAsked>;

/// Makes the outcome of a step of this kind when an error ended the step before it had an outcome.
ReflectorInput FailedWith(const apimachinery::Status& status, ReflectorAction::Kind kind,
                          base::TimePoint when);
/// Returns the error in an outcome, with the name of the step that failed. Returns nothing when the
/// outcome has no error.
std::optional<apimachinery::Status> FailureOf(const ReflectorInput& input);

/// The state machine of a Reflector: (state, input) -> (action, next state). It is a plain value.
/// The rules are those of client-go's `tools/cache/reflector.go` and `tools/pager`, with one
/// exception: a broken watch resumes at the last resourceVersion, whatever the reason. The
/// Reflector lists again only when the server no longer has that version, or does not have it yet,
/// when the store refused a change, or after repeated failures without progress.
///
/// After a server's data were restored from a backup, a watch may start from a version that the
/// server has not reached. kube-apiserver keeps such a watch open and sends only newer changes.
/// Therefore, after the server has refused a watch, the Reflector asks for the server's current
/// version before the next watch. After a watch that merely broke, the next one begins at once, but
/// on trial: if it ends without a newer version, the Reflector asks then.
class ReflectorState {
 public:
  /// Settings of a ReflectorState.
  struct Options {
    /// The number of objects in one page of a list that etcd serves. 0 disables paging.
    std::int64_t page_size = 500;
    /// Whether to stream the initial state with WatchList. The Reflector uses LIST if the server
    /// does not support WatchList.
    bool use_watch_list = true;
    /// Whether to page every list, also those that the watch cache could serve.
    bool force_pages = false;
  };

  explicit ReflectorState(Options options)
      : options_(options), watch_list_supported_(options.use_watch_list) {}

  /// The first action.
  ReflectorAction Start() { return BeginFullState(); }

  /// Returns the action that follows, given the outcome of the last action.
  ReflectorAction Next(const ReflectorInput& input);

  /// True while the events of a WatchList are initial ones.
  bool in_initial_events() const { return in_initial_events_; }
  /// Records that the bookmark came that ends the initial events, and that the replacement was
  /// committed.
  void InitialEventsEnded(std::string_view resource_version);
  /// Records that the store has taken an event of the watch (after the initial ones).
  void Applied(codec::WatchEventType type, std::string_view resource_version);

  /// Whether `resource_version` is older than the known version. It may come from an event of the
  /// watch (after the initial ones) or from the server's answer to kAskVersion. It is older only
  /// when a server was restored or was started anew. Then the caller has to end the watch with
  /// kExpired, so that the state is listed again. If that list is at least as new as the known
  /// version, or is older than this event, the source does not send its versions in order, or sends
  /// them late. GoesBack then returns false for half an hour.
  bool GoesBack(std::string_view resource_version, base::TimePoint now);
  /// Whether GoesBack could return true for this version at any time. It is false for nearly all
  /// events, so that the caller need not read a clock for them.
  bool MayGoBack(std::string_view resource_version) const;
  /// Records that something that the source sent could not be read.
  void Missed() { incomplete_ = true; }
  /// Whether that has happened since the last full state began.
  bool is_incomplete() const { return incomplete_; }

  /// The store has every change up to this resourceVersion, except those that could not be read. It
  /// is empty before the first full state.
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
  /// Whether the server said that it cannot serve last_rv_. Then the most recent state has to be
  /// requested instead.
  bool rv_unusable_ = false;
  /// The version of an event that went back, or empty. When it is set, the next full state shows
  /// whether the source orders its versions.
  std::string went_back_to_{};
  base::TimePoint went_back_at_{};
  /// Whether the server was unreachable, and has not shown since then that it has reached last_rv_.
  bool on_trial_ = false;
  /// The number of consecutive requests for the current version that the server did not answer.
  int unanswered_ = 0;
  /// Whether the server answered the last such request with a refusal.
  bool was_denied_ = false;
  /// The source's versions count as unordered until this time.
  base::TimePoint ordered_from_{};
  /// Whether something could not be read since the last full state began.
  bool incomplete_ = false;
  /// Whether the server answered a list at "0" in pages. Then it has no watch cache, so paging
  /// stays on.
  bool server_pages_ = false;

  // These members belong to the list that is going on.
  apimachinery::ListOptions page_{};
  std::string first_page_rv_{};
  std::string list_rv_{};
  bool first_page_ = true;
  bool full_list_tried_ = false;
  bool fresh_tried_ = false;
  int page_retries_ = 0;

  // These members belong to the watch that is going on.
  bool in_initial_events_ = false;
  std::string watch_list_rv_{};
  int watch_list_attempts_ = 0;
  /// Whether the watch began without a version. Its ADDED events are then not in the order of their
  /// versions.
  bool hold_rv_ = false;
  /// The number of consecutive watches that failed without an event.
  int failures_ = 0;
  /// The time when a watch was last followed by a full state without a delay.
  std::optional<base::TimePoint> listed_at_once_{};
  /// The number of consecutive watches that lasted less than a second.
  int short_watches_ = 0;
  /// The number of consecutive delays that were the server's Retry-After.
  int told_delays_ = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_STATE_H_
