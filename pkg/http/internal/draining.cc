#include "kubexx/http/internal/draining.h"

#include <boost/asio/post.hpp>
#include <memory>
#include <new>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/logging/log.h"

namespace kubexx::http::internal {
namespace {

/// Between looks at who has got an answer. It is the end of the server, so they need not be told.
constexpr std::chrono::milliseconds kLookEvery(5);
/// Who has begun to ask has this much time for the rest of the header: nobody knows yet whether he
/// may ask anything.
constexpr std::chrono::seconds kHeaderTime(1);

}  // namespace

void Draining::Await(std::chrono::milliseconds limit) {
  base::Clock& real = base::Clock::Real();
  const base::TimePoint until = real.Now() + limit;
  if (limit > limit.zero() && !begun_.exchange(true)) {
    boost::asio::post(context_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      headers_until_ = base::Clock::Real().Now() + kHeaderTime;
      EndIdle();
    });
  }
  while (!done_ && !context_.stopped() && real.Now() < until) {
    real.SleepFor(kLookEvery, {});
  }
}

void Draining::EndIdle() {
  const bool is_late = base::Clock::Real().Now() >= headers_until_;
  try {
    // A session that wakes may close others, to make room for its answer.
    const std::vector<std::shared_ptr<Session>> sessions(sessions_.begin(), sessions_.end());
    for (const std::shared_ptr<Session>& session : sessions) {
      if (session->idle() || (is_late && session->has_unfinished_header())) {
        session->Close();
      } else {
        session->WakeOrClose();  // A response in chunks ends now.
      }
    }
  } catch (const std::bad_alloc&) {  // The next look may find more memory.
    logging::Error("Out of memory while connections are being closed; it goes on", {});
  }
  done_ = sessions_.empty();
  timer_.expires_after(kLookEvery);
  timer_.async_wait([this](boost::system::error_code stopped) {
    if (!stopped) {
      EndIdle();
    }
  });
}

}  // namespace kubexx::http::internal
