#include "kubexx/controller/stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "kubexx/controller/internal/briefly.h"
#include "kubexx/logging/log.h"

namespace kubexx::controller {
namespace {

// This signal wakes the thread at the end. It is blocked with the others, so that it is never
// delivered in another way.
constexpr int kEndSignal = SIGUSR2;

sigset_t Signals(bool with_end) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (with_end) {
    sigaddset(&signals, kEndSignal);
  }
  return signals;
}

}  // namespace

StopSignals::StopSignals() {
  // The thread begins with all three signals blocked. On this thread the last one is as it was
  // before.
  const sigset_t for_thread = Signals(true);
  pthread_sigmask(SIG_BLOCK, &for_thread, &blocked_before_);
  // A broken connection must be an error of the write, and not the end of the process.
  pipe_before_ = signal(SIGPIPE, SIG_IGN);
  thread_ = std::jthread([this] { Await(); });
  sigset_t meanwhile = blocked_before_;
  sigaddset(&meanwhile, SIGTERM);
  sigaddset(&meanwhile, SIGINT);
  pthread_sigmask(SIG_SETMASK, &meanwhile, nullptr);
}

StopSignals::~StopSignals() {
  pthread_kill(thread_.native_handle(), kEndSignal);
  thread_.join();
  if (pipe_before_ != SIG_ERR) {
    signal(SIGPIPE, pipe_before_);
  }
  sigset_t free = Signals(false);
  for (const int number : {SIGTERM, SIGINT}) {
    if (sigismember(&blocked_before_, number) == 1) {
      sigdelset(&free, number);
    }
  }
  pthread_sigmask(SIG_UNBLOCK, &free, nullptr);
}

void StopSignals::Await() {
  const sigset_t signals = Signals(true);
  while (true) {
    int number = 0;
    if (sigwait(&signals, &number) != 0 || number == kEndSignal) {
      return;
    }
    if (std::exchange(told_, true)) {
      _exit(EXIT_FAILURE);
    }
    Stop(number);
  }
}

// Both run on threads of their own, because a callback may hang, and so may a log line that nobody
// reads. Nobody joins the second thread either; the owner of a callback waits for its end with
// std::stop_callback.
void StopSignals::Stop(int number) {
  internal::Briefly([number] {
    logging::Info("Stopping because of a signal",
                  {{"signal", number == SIGTERM ? "SIGTERM" : "SIGINT"}});
  });
  try {
    std::thread([stop = stop_]() mutable { stop.request_stop(); }).detach();
  } catch (const std::system_error&) {
    StopHere();
  }
}

// When the system has no thread left, this runs on the thread that would wait for the second
// signal. Therefore a signal handler takes the second signal meanwhile.
void StopSignals::StopHere() {
  struct sigaction end = {};
  end.sa_handler = [](int /*number*/) { _exit(EXIT_FAILURE); };
  sigemptyset(&end.sa_mask);
  struct sigaction term_before = {};
  struct sigaction int_before = {};
  sigaction(SIGTERM, &end, &term_before);
  sigaction(SIGINT, &end, &int_before);
  const sigset_t second = Signals(false);
  pthread_sigmask(SIG_UNBLOCK, &second, nullptr);
  stop_.request_stop();
  pthread_sigmask(SIG_BLOCK, &second, nullptr);
  sigaction(SIGTERM, &term_before, nullptr);
  sigaction(SIGINT, &int_before, nullptr);
}

}  // namespace kubexx::controller
