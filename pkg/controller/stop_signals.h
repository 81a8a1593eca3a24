/// @file
/// Turns SIGTERM and SIGINT into a stop_token.
#ifndef KUBEXX_CONTROLLER_STOP_SIGNALS_H_
#define KUBEXX_CONTROLLER_STOP_SIGNALS_H_

#include <signal.h>

#include <stop_token>
#include <thread>

namespace kubexx::controller {

/// Make one at the start of main, before any other thread. It blocks both signals in this thread,
/// and thereby in all threads started from it, and receives them on a thread of its own. The first
/// signal requests the stop; callbacks of the stop may still run after this object is destroyed,
/// unless the system has no thread left for them: then the destructor waits for their end. A second
/// signal ends the process at once with status 1, whatever the callbacks do. StopSignals
/// also ignores SIGPIPE. The destructor restores what the signals did before. At most one object
/// may exist at a time.
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
  void StopHere();

  std::stop_source stop_;
  sigset_t blocked_before_;   ///< of the thread that made this
  void (*pipe_before_)(int);  ///< what SIGPIPE did
  bool told_ = false;         // of thread_ alone
  std::jthread thread_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_STOP_SIGNALS_H_
