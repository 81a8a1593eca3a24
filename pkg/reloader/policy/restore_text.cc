#include "kubexx/reloader/policy/restore_text.h"

#include <cstddef>
#include <string_view>

#include "kubexx/reloader/policy/policy_news.h"
#include "kubexx/reloader/restore/restore_standing.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Time;

constexpr char kNotAllowed[] = "NotAllowed";

/// The last time in the message: that of the restore of which it tells.
std::optional<Time> TimeIn(std::string_view message) {
  constexpr std::size_t kLength = std::string_view("2006-01-02T15:04:05Z").size();
  for (std::size_t at = message.rfind(kRestoredAt); at != std::string_view::npos && at > 0;
       at = message.rfind(kRestoredAt, at - 1)) {
    if (const auto time = Time::Parse(message.substr(at + kRestoredAt.size(), kLength))) {
      return *time;
    }
  }
  return std::nullopt;
}

/// Whether the policy's users have been told of this restore, or of something later.
bool IsPast(const RestoreReport& restore, const std::optional<RestoreText>& before) {
  if (restore.outcome != RestoreReport::Outcome::kRestored) {
    return false;
  }
  if (!before) {
    return restore.is_earlier;  // it was not by this policy as it is now
  }
  if (!before->is_restored) {
    return before->since && restore.at < *before->since;
  }
  // What the process that put the data back has told of it says more.
  const auto told = TimeIn(before->message);
  return restore.is_earlier && (!told || restore.at <= *told);
}

/// Whether what is told holds until this process knows more: an earlier one has told why nothing
/// was restored, and a rollout still counts as failed.
bool HoldsStill(const RestoreText& told, const PolicyState& state) {
  return told.is_restored ||
         (state.failed_waves > 0 && told.reason != kNothingToRestore && told.reason != kNotAllowed);
}

}  // namespace

RestoreText RestoreTextOf(const PolicyState& state, const std::optional<RestoreText>& before) {
  if (!state.may_restore) {
    return {.reason = kNotAllowed,
            .message =
                "the operator may not restore data, so it only holds: start it with "
                "--allow-restore (kubexx.restore.enabled in the chart)"};
  }
  const std::string note =
      state.no_snapshot.empty() ? "" : std::string(kNoSnapshotNote) + state.no_snapshot;
  if (state.restore && !IsPast(*state.restore, before)) {
    const bool is_restored = state.restore->outcome == RestoreReport::Outcome::kRestored;
    return {.is_restored = is_restored,
            .reason = state.restore->reason,
            .message = state.restore->message + (is_restored ? note : "")};
  }
  if (before && HoldsStill(*before, state)) {
    return {.is_restored = before->is_restored,
            .reason = before->reason,
            .message = WithoutSnapshotNote(before->message) + (before->is_restored ? note : "")};
  }
  return {.reason = kNothingToRestore, .message = "no data have to be restored" + note};
}

}  // namespace kubexx::reloader
