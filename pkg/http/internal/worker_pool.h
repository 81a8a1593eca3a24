/// @file
/// A bounded queue of jobs and the threads that do them.
#ifndef KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_
#define KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/internal/job_queue.h"

namespace kubexx::http::internal {

/// As many jobs of one client run at once as were asked for, besides those that wait for others,
/// and one more of other clients, so that these need not wait for them. Of large ones a quarter do.
/// Clients take turns; the jobs of each begin in the order in which they came, but for large ones
/// that have to wait. One client has half of the queue at most, unless there is no
/// other. Thread-safe.
class WorkerPool {
 public:
  using Job = std::move_only_function<void()>;

  /// So much of a request makes a job large.
  static constexpr std::size_t kLargeBytes = 64 << 10;

  /// At most so many jobs wait for a thread, and the large ones among them have at most so many
  /// bytes; at most `max_waiting` that have one wait for others, half of them of one client.
  /// `one_client`: there is no other, and nothing is kept for one.
  explicit WorkerPool(std::size_t max_queued, std::size_t max_queued_bytes = 128 << 20,
                      std::size_t max_waiting = 256, bool one_client = false)
      : max_queued_(max_queued),
        max_queued_bytes_(max_queued_bytes),
        max_waiting_(max_waiting),
        one_client_(one_client) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() { Stop(); }

  /// `of_one_client`: so many jobs of one client run at once.
  void Start(std::size_t of_one_client);

  /// False when the queue is full. Jobs do not throw.
  bool Push(Job job, JobOrigin origin = {});

  /// Called by a job that is about to wait for somebody who may need another job to be done:
  /// another thread takes its place until EndWait. False when as many wait already as may, of all
  /// clients or of this one, or there is no thread to be had: then the job must do without, and
  /// must not call EndWait. `origin` as in Push.
  [[nodiscard]] bool BeginWait(JobOrigin origin = {});
  /// Called by the same job; it goes on at once.
  void EndWait(JobOrigin origin = {});

  /// Drops what has not begun and waits for what has.
  void Stop();

 private:
  void Run(const std::stop_token& stop);
  void AddThreadLocked() KX_REQUIRES(mu_);
  bool IsFullLocked(const std::string& client) const KX_REQUIRES(mu_);
  /// Counts a job as running, or as not running any more.
  void BeginLocked(const JobOrigin& origin) KX_REQUIRES(mu_);
  void EndLocked(const JobOrigin& origin) KX_REQUIRES(mu_);
  /// The job that may begin next; null when none may.
  const QueuedJob* NextLocked() const KX_REQUIRES(mu_);
  std::size_t LargeAtOnceLocked() const KX_REQUIRES(mu_);
  /// How much of what `all` may have together is one client's at most.
  std::size_t ShareOfOne(std::size_t all) const;

  const std::size_t max_queued_;
  const std::size_t max_queued_bytes_;
  const std::size_t max_waiting_;
  const bool one_client_;
  base::Mutex mu_;
  base::CondVar changed_;
  JobQueue jobs_ KX_GUARDED_BY(mu_);
  JobQueue large_jobs_ KX_GUARDED_BY(mu_);
  std::size_t large_bytes_ KX_GUARDED_BY(mu_) = 0;  // of those that wait
  std::size_t pushed_ KX_GUARDED_BY(mu_) = 0;
  std::size_t of_one_client_ KX_GUARDED_BY(mu_) = 0;
  std::size_t at_once_ KX_GUARDED_BY(mu_) = 0;
  // Without those that wait, and of one client no more than may run at once.
  std::size_t running_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::size_t> running_of_client_ KX_GUARDED_BY(mu_);
  std::size_t large_running_ KX_GUARDED_BY(mu_) = 0;
  bool was_large_ KX_GUARDED_BY(mu_) = false;  // the job that began last
  std::size_t waiting_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::size_t> waiting_of_client_ KX_GUARDED_BY(mu_);
  bool stopped_ KX_GUARDED_BY(mu_) = false;
  std::vector<std::jthread> threads_ KX_GUARDED_BY(mu_);
};

/// The place of a job among those that wait: several parts of it may do so at the same time, on
/// threads of their own. Thread-safe.
class WaitPlace {
 public:
  /// See WorkerPool::BeginWait.
  WaitPlace(WorkerPool& pool, JobOrigin origin) : pool_(pool), origin_(std::move(origin)) {}

  [[nodiscard]] bool Begin();
  void End();

 private:
  WorkerPool& pool_;
  const JobOrigin origin_;
  base::Mutex mu_;  // taken before the pool's
  int parts_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_
