#include "kubexx/http/internal/shares.h"

#include <chrono>
#include <cstddef>
#include <memory>

#include "kubexx/base/function_ref.h"

namespace kubexx::http::internal {
namespace {

/// The sessions that hold something, and how much that is: a share is what one holds on average.
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

  bool HasItsShare(const Session& session) const {
    const std::size_t bytes = held_(session);
    return bytes > 0 && bytes * holders_ >= sum_;
  }

 private:
  Held held_;
  std::size_t sum_ = 0;
  std::size_t holders_ = 0;
};

/// One whose client has taken nothing since `since`; null when there is none.
std::shared_ptr<Session> StalledAnswer(const Sessions& sessions, const Session& writer,
                                       std::chrono::steady_clock::time_point since) {
  const auto held = [&writer](const Session& session) {
    return &session == &writer ? 0 : session.held_of_answer();
  };
  const Shares shares(sessions, held);
  std::shared_ptr<Session> stalled;
  for (const std::shared_ptr<Session>& session : sessions) {
    if (shares.HasItsShare(*session) && session->taken_at() <= since &&
        (stalled == nullptr || session->taken_at() < stalled->taken_at())) {
      stalled = session;
    }
  }
  return stalled;
}

}  // namespace

std::shared_ptr<Session> OldestBody(const Sessions& sessions) {
  const auto held = [](const Session& session) { return session.held_of_body(); };
  const Shares shares(sessions, held);
  // The first has waited for the rest of its request for longest.
  for (const std::shared_ptr<Session>& session : sessions) {
    if (shares.HasItsShare(*session)) {
      return session;
    }
  }
  return nullptr;
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
