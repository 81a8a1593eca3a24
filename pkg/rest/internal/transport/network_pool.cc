#include "kubexx/rest/internal/transport/network_pool.h"

#include <openssl/ssl.h>
#include <pplx/threadpool.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/rest/internal/transport/keep_alive.h"

namespace kubexx::rest::internal {
namespace {

// One thread for all connections of the process. cpprestsdk closes the socket of a cancelled
// request wherever cancel() is called, without a lock against the handlers of the same connection;
// with one thread, and cancel() called on it, the two cannot meet. It never blocks, so it serves
// hundreds of watches.
constexpr int kNetworkThreads = 1;

std::atomic<bool> owns_network_threads = false;

// cpprestsdk sets its timer anew for every piece that it reads, which Asio tells the kernel when no
// other timer ends sooner: a third of the system calls of a watch. This one always does: the
// shortest that a transport sets has eleven minutes.
constexpr std::chrono::minutes kSooner(5);

void EndSoonerThanTimeouts(boost::asio::steady_timer& timer) {
  timer.expires_after(kSooner);
  timer.async_wait([&timer](boost::system::error_code error) {
    if (!error) {
      EndSoonerThanTimeouts(timer);
    }
  });
}

}  // namespace

void StartNetworkThreads() {
  static std::once_flag once;
  std::call_once(once, [] {
    // At the end of the process, what was begun last ends first, and OpenSSL must be there for the
    // connections that the threads still close then: without it they crash, or wait for ever for a
    // lock that is gone. Begun here it does not end at all; if other code has begun it before, it
    // ends after the pool, unless that was made by other code, too.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
    // Made when it is first asked for, by whoever asks, without waiting for each other.
    (void)pplx::get_ambient_scheduler();
    try {
      crossplat::threadpool::initialize_with_threads(kNetworkThreads);
      owns_network_threads = true;
      crossplat::threadpool::shared_instance().service().post(KeepConnectionsOfThisThreadAlive);
      // Never deleted: the pool is there until the process ends.
      static auto* const timer =
          new boost::asio::steady_timer(crossplat::threadpool::shared_instance().service());
      EndSoonerThanTimeouts(*timer);
    } catch (const std::runtime_error&) {
      logging::Warning(
          "Other code has started cpprestsdk's thread pool, so that stopping a request may crash "
          "inside cpprestsdk; create the first RESTClient earlier");
    }
  });
}

// See kNetworkThreads.
void CancelOnNetworkThread(const pplx::cancellation_token_source& source) {
  crossplat::threadpool::shared_instance().service().post([source] {
    try {
      source.cancel();  // closes the socket
    } catch (...) {
      // What cancellation callbacks throw concerns nobody any more.
    }
  });
}

// Idle connections are closed on the thread that works on them.
void CloseOnNetworkThread(std::shared_ptr<void> connections) {
  if (connections) {
    crossplat::threadpool::shared_instance().service().post([old = std::move(connections)] {});
  }
}

int NetworkThreads() { return owns_network_threads ? kNetworkThreads : 0; }

}  // namespace kubexx::rest::internal
