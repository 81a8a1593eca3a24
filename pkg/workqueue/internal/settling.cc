#include "kubexx/workqueue/internal/settling.h"

#include <algorithm>
#include <chrono>

namespace kubexx::workqueue::internal {
namespace {

/// The longest window. It is far longer than any process lives, and many such windows can be added
/// to a time without an overflow.
constexpr base::Duration kMaxWindow = std::chrono::hours(24 * 365 * 10);

base::Duration Longest(const Debounce& debounce, base::Duration window) {
  const int windows = std::max(debounce.max_windows, 1);
  return window > kMaxWindow / windows ? kMaxWindow : windows * window;
}

}  // namespace

std::optional<base::TimePoint> Settling::Note(const Debounce& debounce, base::TimePoint now) {
  if (!pending_) {
    pending_ = true;
    adds_ = {.first = now, .due = now};
  } else if (!debounce.puts_off) {
    return std::nullopt;  // the key will be worked on anyway
  }
  if (debounce.puts_off) {
    adds_.last = now;
  }
  const base::Duration window = std::clamp(debounce.window, base::Duration::zero(), kMaxWindow);
  const base::TimePoint due = std::min(now + window, adds_.first + Longest(debounce, window));
  if (timer.set() && timer.due >= due) {
    return std::nullopt;
  }
  return due;
}

const Settled& Settling::Take() {
  taken_ = adds_;
  pending_ = false;
  alone = false;
  return taken_;
}

void Settling::PutBack(const Settled& taken) {
  if (!pending_) {
    pending_ = true;
    adds_ = taken;
    return;
  }
  adds_.first = std::min(adds_.first, taken.first);
  adds_.last = adds_.last ? adds_.last : taken.last;
}

}  // namespace kubexx::workqueue::internal
