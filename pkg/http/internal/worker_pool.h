/// @file
/// WorkerPool: a bounded queue of jobs and the threads that run them.
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

/// Runs jobs of several clients. A limited number of jobs of one client runs at the same time, and
/// one more job in total, so that another client need not wait for them; jobs that wait for others
/// do not count. At most a quarter of them may be large. Clients take turns. The jobs of a client
/// begin in order of arrival, except that large jobs may have to wait longer. A client has at most
/// half of the queue, unless there is no other client. Thread-safe.
class WorkerPool {
 public:
  using Job = std::move_only_function<void()>;

  /// A job is large when its request has at least this many bytes.
  static constexpr std::size_t kLargeBytes = 64 << 10;

  /// At most `max_queued` jobs wait for a thread, and the large ones among them have at most
  /// `max_queued_bytes` bytes. At most `max_waiting` jobs with a thread may wait for others, half
  /// of them of one client. `one_client`: there is only one client, so that nothing is reserved for
  /// others.
  explicit WorkerPool(std::size_t max_queued, std::size_t max_queued_bytes = 128 << 20,
                      std::size_t max_waiting = 256, bool one_client = false)
      : max_queued_(max_queued),
        max_queued_bytes_(max_queued_bytes),
        max_waiting_(max_waiting),
        one_client_(one_client) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() { Stop(); }

  /// Starts the threads. At most `of_one_client` jobs of one client run at the same time.
  void Start(std::size_t of_one_client);

  /// Adds a job, which must not throw. False when the queue is full.
  bool Push(Job job, JobOrigin origin = {});

  /// A job calls it before it waits for someone who may need another job of this pool: another
  /// thread takes its place until EndWait. Returns false when too many jobs wait already, in total
  /// or of this client, or when no thread can be started. The job must then not wait, and must not
  /// call EndWait. `origin` as in Push.
  [[nodiscard]] bool BeginWait(JobOrigin origin = {});
  /// The same job calls it after the wait, and continues at once.
  void EndWait(JobOrigin origin = {});

  /// Drops jobs that have not begun and waits for those that have.
  void Stop();

 private:
  void Run(const std::stop_token& stop);
  void AddThreadLocked() KX_REQUIRES(mu_);
  bool IsFullLocked(const std::string& client) const KX_REQUIRES(mu_);
  /// Counts a job as running, or as not running any more.
  void BeginLocked(const JobOrigin& origin) KX_REQUIRES(mu_);
  void EndLocked(const JobOrigin& origin) KX_REQUIRES(mu_);
  /// Returns the job that may begin next; null when there is none.
  const QueuedJob* NextLocked() const KX_REQUIRES(mu_);
  std::size_t LargeAtOnceLocked() const KX_REQUIRES(mu_);
  /// How much of a limit of `all` one client may use.
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

/// Represents one job in the pool's waiting jobs while several parts of it wait at the same time,
/// on threads of their own. Thread-safe.
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
