#include "kubexx/http/internal/job_queue.h"

#include <utility>

namespace kubexx::http::internal {

void JobQueue::Push(QueuedJob job) {
  const std::uint64_t client = job.origin.client;
  const auto [found, is_new] = of_clients_.try_emplace(client);
  if (is_new) {
    found->second = turns_.insert(turns_.end(), Turn{.client = client});
  }
  found->second->jobs.push_back(std::move(job));
  ++size_;
}

QueuedJob JobQueue::Take(std::uint64_t client) {
  const auto found = of_clients_.find(client);
  const auto turn = found->second;
  QueuedJob job = std::move(turn->jobs.front());
  turn->jobs.pop_front();
  --size_;
  if (turn->jobs.empty()) {
    turns_.erase(turn);
    of_clients_.erase(found);
  } else {
    turns_.splice(turns_.end(), turns_, turn);
  }
  return job;
}

}  // namespace kubexx::http::internal
