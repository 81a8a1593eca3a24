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

// One thread serves all connections of the process. cpprestsdk closes the socket of a cancelled
// request on the thread that calls cancel(), without a lock against the handlers of the same
// connection. When there is one thread, and cancel() is called on it, the two cannot run at the
// same time. The thread never blocks, so it serves hundreds of watches.
constexpr int kNetworkThreads = 1;

std::atomic<bool> owns_network_threads = false;

// cpprestsdk sets its timer anew for every piece that it reads. Asio passes that on to the kernel
// unless another timer ends sooner, which is a third of a watch's system calls. This timer always
// ends sooner, because the shortest timer that a transport sets has eleven minutes.
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
    // At the end of the process, the objects that were initialised last are destroyed first. The
    // threads still close connections then and need OpenSSL: without it they crash, or wait for
    // ever for a lock that no longer exists. With this call OpenSSL is never cleaned up. If other
    // code has initialised OpenSSL before, it is cleaned up after the pool, unless other code has
    // made the pool, too.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
    // The scheduler is made when it is first used. Its first users do not wait for each other, so
    // it is made here.
    (void)pplx::get_ambient_scheduler();
    try {
      crossplat::threadpool::initialize_with_threads(kNetworkThreads);
      owns_network_threads = true;
      crossplat::threadpool::shared_instance().service().post(KeepConnectionsOfThisThreadAlive);
      // The timer is never deleted, because the pool exists until the process ends.
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
      // Exceptions of cancellation callbacks do not matter to anybody any more.
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
