/// @file
/// ReflectorTask: runs a Reflector in steps, without a thread of its own.
#ifndef KUBEXX_CACHE_REFLECTOR_TASK_H_
#define KUBEXX_CACHE_REFLECTOR_TASK_H_

#include <memory>
#include <stop_token>

#include "kubexx/base/executor/executor.h"
#include "kubexx/cache/reflector.h"

namespace kubexx::cache {

/// One run of a reflector on the threads of an executor. Everything that Reflector::Run does
/// happens in steps, one after the other: one is due when the network has brought something, a
/// delay is over, or the stop is requested. While a watch is quiet there is nothing but its
/// connection. A step reads one piece of a watch, and then others have their turn. A step that
/// lists, begins a watch or asks for the version blocks until the server has answered; the executor
/// has another thread for others meanwhile.
class ReflectorTask {
 public:
  /// `reflector`, which must be one that CanRunAsTask and does not run otherwise, must outlive it.
  /// Throws std::system_error when there is no thread for the timers that all tasks of the executor
  /// share.
  ReflectorTask(Reflector& reflector, std::shared_ptr<base::Executor> executor);
  ReflectorTask(const ReflectorTask&) = delete;
  ReflectorTask& operator=(const ReflectorTask&) = delete;
  /// Stops. Must not be called by the step, for example by ReflectorOptions::on_error.
  ~ReflectorTask();

  /// Begins the run, which ends when `stop` is requested. Call it once, before Stop.
  void Start(const std::stop_token& stop);
  /// Requests the stop, and waits for a running step, which ends soon then, unless the step is the
  /// caller. Thread-safe.
  void Stop();

  /// Whether the running step is the caller. Thread-safe.
  bool IsCurrent() const;
  /// Whether it has ended, after the stop was requested. Thread-safe.
  bool HasEnded() const;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_REFLECTOR_TASK_H_
