#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "kubexx/base/testing/await.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/network_threads.h"

namespace kubexx::rest {
namespace {

std::atomic<bool> exiting = false;

/// Exits while the network thread still has TLS connections to close. The status is 0 if OpenSSL
/// existed until all were closed, and 3 otherwise.
[[noreturn]] void ExitBeforeConnectionsAreClosed() {
  const auto client = testing::NewClient("http://127.0.0.1:1");
  // This initialises OpenSSL as its first connection would.
  SSL_CTX_free(SSL_CTX_new(TLS_client_method()));
  std::atomic<bool> begun = false;
  testing::PostOnNetworkThread([&begun] {
    begun = true;
    KX_AWAIT(exiting);
    // The wait is long enough for the main thread to do its clean-up before it waits for this
    // thread.
    base::Clock::Real().SleepFor(std::chrono::milliseconds(100), {});
    if (OPENSSL_init_ssl(0, nullptr) != 1) {
      ::_exit(3);
    }
  });
  KX_AWAIT(begun);
  std::atexit([] { exiting = true; });
  std::exit(0);
}

TEST(NetworkExitDeathTest, OpenSslIsThereUntilTheConnectionsAreClosed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has not used OpenSSL yet
  EXPECT_EXIT(ExitBeforeConnectionsAreClosed(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kubexx::rest
