// A candidate of a leader election, for the tests that need it in a process of its own.
//
//   candidate NAMESPACE NAME IDENTITY LEASE_SECONDS
//
// Reads KUBEXX_TEST_KUBECONFIG. Prints "<nanoseconds> started|leading|stopped|sees-LEADER" with
// times of the machine's monotonic clock, "leading" every 10 ms while it may act as the leader.
// Ends on SIGTERM.
#include <signal.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package

void Say(const std::string& what) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::printf("%lld %s\n", static_cast<long long>(now.tv_sec) * 1000000000 + now.tv_nsec,
              what.c_str());
  std::fflush(stdout);
}

int Complain(const apimachinery::Status& status) {
  std::fprintf(stderr, "candidate: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* kubeconfig = std::getenv("KUBEXX_TEST_KUBECONFIG");
  if (argc != 5 || kubeconfig == nullptr) {
    std::fprintf(stderr,
                 "usage: KUBEXX_TEST_KUBECONFIG=FILE candidate NAMESPACE NAME IDENTITY SECONDS\n");
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // Inherited by all threads; waited for below.

  auto config = rest::LoadKubeconfig({.path = kubeconfig});
  if (!config) {
    return Complain(config.error());
  }
  auto client = rest::RESTClient::New(leaderelection::LockClientConfig(*std::move(config)));
  if (!client) {
    return Complain(client.error());
  }
  std::unique_ptr<leaderelection::LeaderElector> elector;
  leaderelection::LeaderElector::Options options;
  options.config.identity = argv[3];
  options.config.lease_duration = std::chrono::seconds(std::atoi(argv[4]));
  options.config.renew_deadline = options.config.lease_duration * 2 / 3;
  options.config.retry_period = options.config.lease_duration * 2 / 15;
  options.lock = std::make_shared<leaderelection::LeaseLock>(
      *client, apimachinery::ObjectKey{.namespace_ = argv[1], .name = argv[2]});
  options.callbacks.on_new_leader = [](const std::string& leader) { Say("sees-" + leader); };
  options.callbacks.on_started_leading = [&elector](const std::stop_token& stop) {
    Say("started");
    while (base::Clock::Real().SleepFor(std::chrono::milliseconds(10), stop)) {
      if (elector->IsLeader()) {
        Say("leading");
      }
    }
    Say("stopped");
  };
  auto made = leaderelection::LeaderElector::New(std::move(options));
  if (!made) {
    return Complain(made.error());
  }
  elector = *std::move(made);
  apimachinery::Result<void> result;
  std::atomic<bool> over = false;
  std::jthread run([&](const std::stop_token& stop) {
    result = elector->Run(stop);
    over = true;
  });
  const timespec look{.tv_sec = 0, .tv_nsec = 50000000};
  while (!over && sigtimedwait(&signals, nullptr, &look) != SIGTERM) {
  }
  run.request_stop();
  run.join();
  return result ? 0 : Complain(result.error());
}
