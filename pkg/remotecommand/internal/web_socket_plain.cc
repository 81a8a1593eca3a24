#include "kubexx/remotecommand/internal/web_socket_impl.h"
#include "kubexx/remotecommand/internal/web_socket_streams.h"

namespace kubexx::remotecommand::internal {
namespace {

class PlainWebSocket final : public WebSocketImpl<beast::tcp_stream> {
 public:
  explicit PlainWebSocket(const Executor::Options& options) : WebSocketImpl(options) {
    ws_.emplace(context_);
  }

 protected:
  beast::tcp_stream& tcp() override { return ws_->next_layer(); }
  void AsyncHandshake(Done done) override {
    asio::post(context_, [done = std::move(done)] { done({}); });
  }
};

}  // namespace

OpenResult OpenPlain(const rest::internal::StreamAccess& access, const std::string& target,
                     const std::string& protocol, const Executor::Options& options,
                     const std::stop_token& stop) {
  auto socket = std::make_unique<PlainWebSocket>(options);
  KX_RETURN_IF_ERROR(socket->Connect(access, target, protocol, stop));
  return std::unique_ptr<WebSocket>(std::move(socket));
}

OpenResult WebSocket::Open(const rest::internal::StreamAccess& access, const std::string& target,
                           const std::string& protocol, const Executor::Options& options,
                           const std::stop_token& stop) {
  return access.server.tls ? OpenTls(access, target, protocol, options, stop)
                           : OpenPlain(access, target, protocol, options, stop);
}

}  // namespace kubexx::remotecommand::internal
