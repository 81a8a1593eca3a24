/// @file
/// JobQueue: the waiting jobs of clients that take turns.
#ifndef KUBEXX_HTTP_INTERNAL_JOB_QUEUE_H_
#define KUBEXX_HTTP_INTERNAL_JOB_QUEUE_H_

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <string>

namespace kubexx::http::internal {

/// The client of a job, and its size.
struct JobOrigin {
  /// The client's name. It is the same for all requests of the client, on all its connections.
  std::string client{};
  /// The size of the request.
  std::size_t bytes = 0;
};

/// A job that waits for a thread.
struct QueuedJob {
  std::move_only_function<void()> job{};
  JobOrigin origin{};
  std::size_t number = 0;  ///< in order of arrival
};

/// The jobs of one client begin in order of arrival, and clients take turns, so that a client with
/// many jobs delays only itself. Not thread-safe.
class JobQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  void Push(QueuedJob job);
  /// Returns the job whose turn it is among the clients for which `may_begin` returns true; null
  /// when there is none. The job stays in the queue.
  template <class MayBegin>
  const QueuedJob* Next(const MayBegin& may_begin) const {
    for (const auto& [client, jobs] : turns_) {
      if (may_begin(client)) {
        return &jobs.front();
      }
    }
    return nullptr;
  }
  /// Takes out the client's next job. The client is then the last in turn.
  QueuedJob Take(const std::string& client);
  /// The number of the client's waiting jobs.
  std::size_t CountOf(const std::string& client) const;

 private:
  struct Turn {
    std::string client{};
    std::list<QueuedJob> jobs{};  // never empty
  };

  std::list<Turn> turns_{};  // the next one first
  std::map<std::string, std::list<Turn>::iterator> of_clients_{};
  std::size_t size_ = 0;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_JOB_QUEUE_H_
