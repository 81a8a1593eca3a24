#include <utility>
// Asio needs <utility> first.
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <memory>

#include "kubexx/remotecommand/internal/byte_stream.h"
#include "kubexx/rest/tls_setup.h"

namespace kubexx::remotecommand::internal {
namespace {

using rest::TlsSetup;

class TlsStream final : public ByteStream {
 public:
  TlsStream(boost::asio::io_context& context, boost::asio::ssl::context tls, TlsSetup setup,
            std::unique_ptr<ByteStream> below)
      : setup_(std::move(setup)),
        tls_(std::move(tls)),
        stream_(AnyStream(context, std::move(below)), tls_) {}

  boost::beast::tcp_stream& tcp() override { return stream_.next_layer().bytes().tcp(); }
  ByteStream* below() override { return &stream_.next_layer().bytes(); }
  void AsyncHandshake(Done done) override {
    stream_.async_handshake(boost::asio::ssl::stream_base::client, std::move(done));
  }
  std::string HandshakeDetail() override { return setup_.TakeVerifyError(); }
  void AsyncReadSome(boost::asio::mutable_buffer into, SomeDone done) override {
    stream_.async_read_some(into, std::move(done));
  }
  void AsyncWriteSome(const Pieces& pieces, SomeDone done) override {
    stream_.async_write_some(pieces, std::move(done));
  }
  void AsyncTeardown(boost::beast::role_type /*role*/, Done done) override {
    stream_.async_shutdown(std::move(done));
  }

 private:
  TlsSetup setup_;
  boost::asio::ssl::context tls_;
  boost::beast::ssl_stream<AnyStream> stream_;
};

}  // namespace

apimachinery::Result<std::unique_ptr<ByteStream>> MakeTlsStream(boost::asio::io_context& context,
                                                                TlsSetup setup,
                                                                std::unique_ptr<ByteStream> below) {
  boost::asio::ssl::context tls(boost::asio::ssl::context::tls_client);
  tls.set_default_verify_paths();  // Replaced when the settings name authorities.
  if (!setup.Apply(tls.native_handle())) {
    return apimachinery::Fail(apimachinery::Reason::kInvalidConfig, "cannot set up TLS");
  }
  return std::make_unique<TlsStream>(context, std::move(tls), std::move(setup), std::move(below));
}

apimachinery::Result<std::unique_ptr<ByteStream>> MakeStream(boost::asio::io_context& context,
                                                             const rest::StreamAccess& access) {
  std::unique_ptr<ByteStream> bytes = MakePlainStream(context);
  if (access.proxy && access.proxy->protocol == rest::ProxyProtocol::kHttps) {
    KX_ASSIGN_OR_RETURN(TlsSetup setup, TlsSetup::ForProxy(access.tls, access.proxy->address.host));
    KX_ASSIGN_OR_RETURN(bytes, MakeTlsStream(context, std::move(setup), std::move(bytes)));
  }
  if (access.server.tls) {
    KX_ASSIGN_OR_RETURN(TlsSetup setup, TlsSetup::New(access.tls, access.server.host));
    KX_ASSIGN_OR_RETURN(bytes, MakeTlsStream(context, std::move(setup), std::move(bytes)));
  }
  return bytes;
}

}  // namespace kubexx::remotecommand::internal
