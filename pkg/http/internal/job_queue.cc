#include "kubexx/http/internal/job_queue.h"

#include <utility>

namespace kubexx::http::internal {

void JobQueue::Push(QueuedJob job) {
  const auto found = of_clients_.find(job.origin.client);
  if (found != of_clients_.end()) {
    found->second->jobs.push_back(std::move(job));
  } else {
    std::list<Turn> turn(1);
    turn.front().client = job.origin.client;
    turn.front().jobs.push_back(std::move(job));
    // Nothing is left half done where there is no memory.
    of_clients_.emplace(turn.front().client, turn.begin());
    turns_.splice(turns_.end(), turn);
  }
  ++size_;
}

std::size_t JobQueue::CountOf(const std::string& client) const {
  const auto found = of_clients_.find(client);
  return found == of_clients_.end() ? 0 : found->second->jobs.size();
}

QueuedJob JobQueue::Take(const std::string& client) {
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
