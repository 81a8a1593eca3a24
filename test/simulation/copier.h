/// @file
/// A controller of the usual kind in a simulation.
#ifndef KUBEXX_TEST_SIMULATION_COPIER_H_
#define KUBEXX_TEST_SIMULATION_COPIER_H_

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/mutex.h"
#include "kubexx/workqueue/queue.h"
#include "oracle/random.h"

namespace kubexx::simulation {

/// Works off the library's queue as its users do: a handler adds an object's key, and a worker
/// takes it, looks what the object is, and after some seconds has brought that somewhere else. An
/// object that changes while it is worked on has to be looked at again, and nothing but the queue
/// knows that. (The operator's own writes make events, so it hears of each workload again.) Its
/// threads are of whoever constructs it. Thread-safe.
class Copier {
 public:
  /// The object's present version; "none" when it is not there. Called on the workers.
  using Look = std::function<std::string(const apimachinery::ObjectKey& key)>;

  Copier(Look look, oracle::Random random);
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  /// The object has changed, was made or is gone.
  void Changed(const apimachinery::ObjectKey& key);
  /// What has been copied of each object that was there.
  std::map<apimachinery::ObjectKey, std::string> copies();

 private:
  void Work(const std::stop_token& stop);

  const Look look_;
  workqueue::Queue queue_;
  base::Mutex mu_;
  oracle::Random random_ KX_GUARDED_BY(mu_);
  std::map<apimachinery::ObjectKey, std::string> copies_ KX_GUARDED_BY(mu_);
  std::vector<std::jthread> workers_{};  // last: end first
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_COPIER_H_
