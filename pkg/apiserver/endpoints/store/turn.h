/// @file
/// Lets one thread after the other do something that takes calls of the storage.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_TURN_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_TURN_H_

#include <memory>
#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// A lock that may be held during calls of the storage, as waiting for it ends when a stop is
/// requested. It knows only the threads of this process. Thread-safe.
class Turn {
 public:
  /// The turn of one thread, which ends with it. Must not outlive the Turn.
  class Hold {
   public:
    explicit Hold(Turn& turn) : turn_(turn) {}
    ~Hold() { turn_.End(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Turn& turn_;
  };

  /// Waits until it is this thread's turn. Returns kCancelled when `stop` is requested before. A
  /// thread must not ask for a turn while it has one.
  apimachinery::Result<std::unique_ptr<Hold>> Take(base::Clock& clock, const std::stop_token& stop);

 private:
  void End();

  base::Mutex mu_;
  base::CondVar free_;
  bool taken_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_TURN_H_
