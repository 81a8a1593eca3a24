#include "kubexx/remotecommand/internal/web_socket_impl.h"
// Before the stream: it needs the WebSocket's headers.
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include "kubexx/remotecommand/internal/web_socket_streams.h"
#include "kubexx/rest/internal/tls.h"

namespace kubexx::remotecommand::internal {
namespace {

using TlsStream = beast::ssl_stream<beast::tcp_stream>;

class TlsWebSocket final : public WebSocketImpl<TlsStream> {
 public:
  TlsWebSocket(const Executor::Options& options,
               std::shared_ptr<rest::internal::TlsSettings> settings)
      : WebSocketImpl(options), settings_(std::move(settings)) {}

  apimachinery::Result<void> Prepare() {
    tls_.set_default_verify_paths();  // Replaced when the settings name authorities.
    if (!settings_->Apply(tls_.native_handle())) {
      return apimachinery::Fail(apimachinery::Reason::kInvalidConfig, "cannot set up TLS");
    }
    ws_.emplace(context_, tls_);
    return {};
  }

 protected:
  beast::tcp_stream& tcp() override { return beast::get_lowest_layer(*ws_); }
  void AsyncHandshake(Done done) override {
    ws_->next_layer().async_handshake(asio::ssl::stream_base::client, std::move(done));
  }
  std::string HandshakeDetail() const override { return settings_->TakeVerifyError(); }

 private:
  std::shared_ptr<rest::internal::TlsSettings> settings_;
  asio::ssl::context tls_{asio::ssl::context::tls_client};
};

}  // namespace

OpenResult OpenTls(const rest::internal::StreamAccess& access, const std::string& target,
                   const std::string& protocol, const Executor::Options& options,
                   const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(auto settings,
                      rest::internal::TlsSettings::New(access.tls, access.server.host));
  auto socket = std::make_unique<TlsWebSocket>(options, std::move(settings));
  KX_RETURN_IF_ERROR(socket->Prepare());
  KX_RETURN_IF_ERROR(socket->Connect(access, target, protocol, stop));
  return std::unique_ptr<WebSocket>(std::move(socket));
}

}  // namespace kubexx::remotecommand::internal
