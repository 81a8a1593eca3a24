#include "kubexx/rest/internal/stream/io_wait.h"

namespace kubexx::rest::internal {

std::expected<Connection::Step, Trouble> AwaitIo(Connection& connection, const Waiting& waiting,
                                                 base::FunctionRef<Connection::Step()> attempt) {
  for (;;) {
    const Connection::Step step = attempt();
    if (!Connection::IsWant(step.io)) {
      return step;
    }
    const base::Wake wake = waiting.poller.Wait(connection.fd(), InterestOf(step.io), waiting.clock,
                                                waiting.stop, waiting.deadline);
    if (Trouble trouble; Trouble::Is(wake, trouble)) {
      return std::unexpected(trouble);
    }
  }
}

}  // namespace kubexx::rest::internal
