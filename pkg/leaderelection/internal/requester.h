/// @file
/// The thread on which an elector's requests run, so that its clock never waits for the network.
#ifndef KUBEXX_LEADERELECTION_INTERNAL_REQUESTER_H_
#define KUBEXX_LEADERELECTION_INTERNAL_REQUESTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/leaderelection/election.h"
#include "kubexx/leaderelection/lock.h"

namespace kubexx::leaderelection::internal {

/// Runs one request after another. One request may wait, and a newer one replaces it. Thread-safe.
/// The destructor cancels the running request and joins the thread.
class Requester {
 public:
  /// `reply` is called on the requester's thread, also for requests that were cancelled.
  Requester(Lock& lock, std::function<void(Reply&&)> reply);
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;
  ~Requester();

  /// `action` is a kGet, kCreate or kUpdate.
  void Start(Action action);
  void Cancel(std::uint64_t op);

 private:
  struct Job {
    Action action{};
    std::stop_source stop{};
  };

  void Run(const std::stop_token& stop);
  apimachinery::Result<Lease> Execute(Action& action, const std::stop_token& stop);

  Lock& lock_;
  const std::function<void(Reply&&)> reply_;
  base::Mutex mu_;
  base::CondVar cv_;
  std::optional<Job> waiting_ KX_GUARDED_BY(mu_);
  std::uint64_t running_op_ KX_GUARDED_BY(mu_) = 0;
  std::stop_source running_ KX_GUARDED_BY(mu_);
  std::jthread thread_;
};

}  // namespace kubexx::leaderelection::internal

#endif  // KUBEXX_LEADERELECTION_INTERNAL_REQUESTER_H_
