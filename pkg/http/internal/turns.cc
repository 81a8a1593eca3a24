#include "kubexx/http/internal/turns.h"

#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::http::internal {
namespace {

/// Of 50 to 300 microseconds each.
constexpr int kStepsInATurn = 2;

}  // namespace

void Turns::Add(Step step) {
  steps_.push_back(std::move(step));
  Arm();
}

void Turns::Arm() {
  if (!taking_ && !steps_.empty()) {
    boost::asio::post(context_, [this] { Take(); });
    taking_ = true;
  }
}

void Turns::Take() {
  taking_ = false;  // Whatever fails below, the next Add begins again.
  for (int i = 0; i < kStepsInATurn && !steps_.empty(); ++i) {
    const Step step = std::move(steps_.front());
    steps_.pop_front();
    try {
      step.begin();
    } catch (const std::exception& e) {  // Out of memory; the others go on.
      step.session->Close();
      logging::Error(
          "A handshake or a large part of a message could not begin; the HTTP connection is closed",
          {{"error", e.what()}});
    }
  }
  Arm();
}

}  // namespace kubexx::http::internal
