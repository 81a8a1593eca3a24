/// @file
/// Turns SIGTERM and SIGINT into a stop_token.
#ifndef KUBEXX_CONTROLLER_STOP_SIGNALS_H_
#define KUBEXX_CONTROLLER_STOP_SIGNALS_H_

#include <signal.h>

#include <stop_token>
#include <thread>

namespace kubexx::controller {

/// Make one at the start of main, before any thread: it blocks the two signals in this thread, and
/// so in all that are started from it, and takes them on a thread of its own. The first one
/// requests the stop, whose callbacks may still run when this has gone; a second one ends the
/// process at once with status 1, whatever they are at. SIGPIPE is ignored. At its end all
/// three do what they did before. At most one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void Await();
  void Stop(int number);

  std::stop_source stop_;
  sigset_t blocked_before_;   ///< of the thread that made this
  void (*pipe_before_)(int);  ///< what SIGPIPE did
  bool told_ = false;         // of thread_ alone
  std::jthread thread_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_STOP_SIGNALS_H_
