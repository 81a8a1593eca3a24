#include "kubexx/http/internal/shares.h"

#include <chrono>
#include <cstddef>
#include <memory>

#include "kubexx/base/function_ref.h"

namespace kubexx::http::internal {
namespace {

/// The sessions that hold something, and how much that is: a share is what one holds on average.
/// Half of one is much: among many that hold the same, who has begun last to hold more is not the
/// only one.
class Shares {
 public:
  using Held = base::FunctionRef<std::size_t(const Session&)>;

  Shares(const Sessions& sessions, Held held) : held_(held) {
    for (const std::shared_ptr<Session>& session : sessions) {
      const std::size_t bytes = held_(*session);
      sum_ += bytes;
      holders_ += bytes > 0 ? 1 : 0;
    }
  }

  bool HasMuch(const Session& session) const {
    const std::size_t bytes = held_(session);
    return bytes > 0 && bytes * holders_ >= sum_ / 2;
  }

 private:
  Held held_;
  std::size_t sum_ = 0;
  std::size_t holders_ = 0;
};

/// Not the first of the list: that has waited for longest, which was perhaps for its client to
/// begin.
std::shared_ptr<Session> OldestHolder(const Sessions& sessions, Shares::Held held) {
  const Shares shares(sessions, held);
  std::shared_ptr<Session> oldest;
  for (const std::shared_ptr<Session>& session : sessions) {
    if (shares.HasMuch(*session) &&
        (oldest == nullptr || session->holding_since() < oldest->holding_since())) {
      oldest = session;
    }
  }
  return oldest;
}

/// One whose client has taken nothing since `since`; null when there is none.
std::shared_ptr<Session> StalledAnswer(const Sessions& sessions, const Session& writer,
                                       std::chrono::steady_clock::time_point since) {
  const auto held = [&writer](const Session& session) {
    return &session == &writer ? 0 : session.held_of_answer();
  };
  const Shares shares(sessions, held);
  std::shared_ptr<Session> stalled;
  for (const std::shared_ptr<Session>& session : sessions) {
    if (shares.HasMuch(*session) && session->taken_at() <= since &&
        (stalled == nullptr || session->taken_at() < stalled->taken_at())) {
      stalled = session;
    }
  }
  return stalled;
}

}  // namespace

std::shared_ptr<Session> OldestBody(const Sessions& sessions) {
  return OldestHolder(sessions, [](const Session& session) { return session.held_of_body(); });
}

std::shared_ptr<Session> OldestHeader(const Sessions& sessions) {
  return OldestHolder(sessions, [](const Session& session) { return session.held_of_header(); });
}

void EndStalledAnswers(const Sessions& sessions, const Session& writer,
                       const Server::Options& options, const std::size_t& held) {
  const auto now = std::chrono::steady_clock::now();
  const std::size_t limit = options.max_unread_answer_bytes;
  while (held > limit) {
    const bool is_patient = held / 2 <= limit;
    const auto stalled =
        StalledAnswer(sessions, writer, is_patient ? now - options.answer_patience : now);
    if (stalled == nullptr) {
      return;
    }
    stalled->Close();
  }
}

}  // namespace kubexx::http::internal
