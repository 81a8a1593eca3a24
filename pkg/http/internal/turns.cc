#include "kubexx/http/internal/turns.h"

#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::http::internal {
namespace {

/// Of 50 to 300 microseconds each.
constexpr int kStepsInATurn = 4;

}  // namespace

void Turns::Add(std::function<void()> step) {
  steps_.push_back(std::move(step));
  if (!std::exchange(taking_, true)) {
    boost::asio::post(context_, [this] { Take(); });
  }
}

void Turns::Take() {
  for (int i = 0; i < kStepsInATurn && !steps_.empty(); ++i) {
    try {
      const std::function<void()> step = std::move(steps_.front());
      steps_.pop_front();
      step();
    } catch (const std::exception& e) {  // Out of memory; the others go on.
      logging::Error("HTTP connection failed", {{"error", e.what()}});
      on_failure_();
    }
  }
  taking_ = !steps_.empty();
  if (taking_) {
    boost::asio::post(context_, [this] { Take(); });
  }
}

}  // namespace kubexx::http::internal
