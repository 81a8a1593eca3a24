#include "kubexx/http/internal/draining.h"

#include <boost/asio/post.hpp>
#include <memory>

#include "kubexx/base/clock.h"

namespace kubexx::http::internal {
namespace {

/// Between looks at who has got an answer. It is the end of the server, so they need not be told.
constexpr std::chrono::milliseconds kLookEvery(5);

}  // namespace

void Draining::Await(std::chrono::milliseconds limit) {
  base::Clock& real = base::Clock::Real();
  const base::TimePoint until = real.Now() + limit;
  if (limit > limit.zero() && !begun_.exchange(true)) {
    boost::asio::post(context_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      EndIdle();
    });
  }
  while (!done_ && !context_.stopped() && real.Now() < until) {
    real.SleepFor(kLookEvery, {});
  }
}

void Draining::EndIdle() {
  for (auto next = sessions_.begin(); next != sessions_.end();) {
    const std::shared_ptr<Session> session = *next++;
    if (session->idle()) {
      session->Close();
    } else {
      session->Wake();  // A response in chunks ends now.
    }
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
