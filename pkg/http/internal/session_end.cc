// The end of a connection whose client may still be sending, so that it gets the last answer.
#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>

#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// How much of what nobody wants is read after the last answer, and for how long, so that the
/// client sees that: closing with unread input resets the connection. Most clients send a body to
/// its end before they look for an answer.
struct DrainLimits {
  std::size_t bytes;
  std::chrono::milliseconds time;
};
constexpr DrainLimits kDrainOfAnybody{1 << 20, std::chrono::seconds(1)};
constexpr DrainLimits kDrainOfAdmitted{256 << 20, std::chrono::seconds(30)};

}  // namespace

void Session::EndQuietly() {
  reading_ = true;
  tcp().expires_after(kDrainOfAnybody.time);
  CloseAfter(kDrainOfAnybody.time);
  AsyncShutdown(Guarded([this](error_code) { Linger(); }));
}

void Session::Linger() {
  if (closed_) {
    return;
  }
  lingering_ = true;
  reading_ = true;
  error_code ignored;
  tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
  // The end of the server does not wait for clients that leave their connection open.
  const bool is_patient = trusted() && !host_.draining();
  const std::chrono::milliseconds time = (is_patient ? kDrainOfAdmitted : kDrainOfAnybody).time;
  CloseAfter(time);
  if (!ahead_) {
    tcp().expires_after(time);
    Drain();
  }
}

// What the peer still sends is dropped below TLS.
void Session::Drain() {
  SomeRead done = Guarded([this](error_code error, std::size_t size) {
    drained_ += size;
    if (error || drained_ > (trusted() ? kDrainOfAdmitted : kDrainOfAnybody).bytes) {
      Close();
    } else {
      Drain();
    }
  });
  tcp().async_read_some(asio::mutable_buffer(asio::buffer(drain_)), std::move(done));
}

}  // namespace kubexx::http::internal
