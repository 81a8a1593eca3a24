/// @file
/// Jobs of clients that take turns.
#ifndef KUBEXX_HTTP_INTERNAL_JOB_QUEUE_H_
#define KUBEXX_HTTP_INTERNAL_JOB_QUEUE_H_

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <string>

namespace kubexx::http::internal {

/// Whom a job is for, and how much it may cost.
struct JobOrigin {
  /// The same for all requests of a client, whatever connections they came over.
  std::string client{};
  /// The size of the request.
  std::size_t bytes = 0;
};

/// A job that waits for a thread.
struct QueuedJob {
  std::move_only_function<void()> job{};
  JobOrigin origin{};
  std::size_t number = 0;  ///< in the order of coming
};

/// Those of one client begin in the order in which they came, and clients take turns: who asks for
/// much at once holds up himself only. Not thread-safe.
class JobQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  void Push(QueuedJob job);
  /// The job whose turn it is, of the clients that `may_begin` is true for; null when there is
  /// none. It stays where it is.
  template <class MayBegin>
  const QueuedJob* Next(const MayBegin& may_begin) const {
    for (const auto& [client, jobs] : turns_) {
      if (may_begin(client)) {
        return &jobs.front();
      }
    }
    return nullptr;
  }
  /// Takes the next job of the client out, who is the last in turn then.
  QueuedJob Take(const std::string& client);
  /// So many of the client wait.
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
