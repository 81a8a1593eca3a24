#include "kubexx/rest/internal/stream/io_wait.h"

#include <string>
#include <utility>

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

std::expected<void, Trouble> WriteAll(Connection& connection, std::string_view bytes,
                                      const Waiting& waiting) {
  while (!bytes.empty()) {
    const auto step = AwaitIo(connection, waiting, [&] { return connection.Write(bytes); });
    if (!step) {
      return std::unexpected(step.error());
    }
    if (step->io != Connection::Io::kDone) {
      return std::unexpected(
          Trouble::Because("the connection was closed while the request was sent", true));
    }
    bytes.remove_prefix(step->bytes);
  }
  return {};
}

std::expected<void, Trouble> StartTls(Connection& connection, std::shared_ptr<TlsContext> tls,
                                      Offer offer, const Waiting& waiting) {
  if (!connection.AddTls(tls)) {
    return std::unexpected(Trouble::Because("out of memory"));
  }
  if (offer == Offer::kHttp2) {
    connection.OfferHttp2();
  }
  const auto step = AwaitIo(connection, waiting, [&] { return connection.Handshake(); });
  if (!step) {
    return std::unexpected(step.error());
  }
  if (step->io == Connection::Io::kDone) {
    return {};
  }
  std::string why = tls->TakeVerifyError();
  if (why.empty()) {
    why = connection.tls_failed() ? connection.failure() : "the connection was closed";
  }
  return std::unexpected(Trouble::Because(std::move(why)));
}

}  // namespace kubexx::rest::internal
