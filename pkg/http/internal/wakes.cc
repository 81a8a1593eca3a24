#include <utility>
// Asio needs <utility> first.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <vector>

#include "kubexx/http/internal/wakes.h"

namespace kubexx::http::internal {
namespace {

/// So many streams send what they have, or fewer if that takes longer, then requests and answers
/// have their turn.
constexpr std::size_t kTurn = 64;
constexpr std::chrono::milliseconds kTurnTime(1);

}  // namespace

void Wakes::Add(std::weak_ptr<Session> session) {
  const base::MutexLock lock(mu_);
  waiting_.push_back(std::move(session));
  WakeLocked();
}

void Wakes::WakeLocked() {
  if (!waking_ && !waiting_.empty()) {
    boost::asio::post(context_, [this] { WakeSome(); });
    waking_ = true;
  }
}

void Wakes::WakeSome() {
  std::vector<std::weak_ptr<Session>> turn;
  {
    const base::MutexLock lock(mu_);
    waking_ = false;  // Whoever wakes next begins again, also when there is no memory for this.
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kTurn));
    turn.assign(std::move_iterator(waiting_.begin()), std::move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
  }
  const auto deadline = std::chrono::steady_clock::now() + kTurnTime;
  auto next = turn.begin();
  for (;
       next != turn.end() && (next == turn.begin() || std::chrono::steady_clock::now() < deadline);
       ++next) {
    if (const auto session = next->lock()) {
      session->WakeOrClose();  // The others go on.
    }
  }
  const base::MutexLock lock(mu_);
  waiting_.insert(waiting_.begin(), std::move_iterator(next), std::move_iterator(turn.end()));
  WakeLocked();
}

}  // namespace kubexx::http::internal
