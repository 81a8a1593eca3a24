#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/remotecommand/testing/web_socket_server.h"

namespace kubexx::remotecommand::testing {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using tcp = asio::ip::tcp;

template <class Stream>
class Connection final : public ServerConnection {
 public:
  Connection(websocket::stream<Stream&>& ws, std::string target)
      : ws_(ws), target_(std::move(target)) {
    ws_.binary(true);
    ws_.control_callback([this](websocket::frame_type type, beast::string_view) {
      pings_ += type == websocket::frame_type::ping ? 1 : 0;
    });
  }

  std::optional<std::string> Read() override {
    beast::flat_buffer buffer;
    error_code error;
    ws_.read(buffer, error);
    return error ? std::nullopt : std::optional(beast::buffers_to_string(buffer.data()));
  }
  void Write(std::string_view message) override {
    error_code ignored;
    ws_.write(asio::buffer(message.data(), message.size()), ignored);
  }
  void WriteBytes(std::string_view bytes) override {
    error_code ignored;
    asio::write(ws_.next_layer(), asio::buffer(bytes.data(), bytes.size()), ignored);
  }
  void WriteRaw(std::string_view bytes) override {
    WriteBytes(bytes);
    error_code ignored;
    beast::get_lowest_layer(ws_).shutdown(tcp::socket::shutdown_send, ignored);
    AwaitPeer();
  }
  void Close(std::uint16_t code, std::string_view reason) override {
    error_code ignored;
    ws_.close({static_cast<websocket::close_code>(code),
               beast::string_view(reason.data(), reason.size())},
              ignored);
  }
  void AwaitPeer() override {
    while (Read()) {
    }
  }
  int pings() const override { return pings_; }
  const std::string& target() const override { return target_; }

 private:
  websocket::stream<Stream&>& ws_;
  const std::string target_;
  int pings_ = 0;
};

}  // namespace

class WebSocketServer::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)), acceptor_(context_) {
    if (!options_.certificate.empty()) {
      tls_.use_certificate_chain(asio::buffer(options_.certificate));
      tls_.use_private_key(asio::buffer(options_.key), asio::ssl::context::pem);
    }
    const tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
    acceptor_.open(any.protocol());
    acceptor_.bind(any);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
    thread_ = std::jthread([this] { Accept(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    {
      base::MutexLock lock(mu_);
      stopping_ = true;
    }
    // Wakes accept.
    tcp::socket wake(context_);
    error_code ignored;
    wake.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_), ignored);
    thread_.join();
  }

  std::string Url() const {
    return (options_.certificate.empty() ? "http://127.0.0.1:" : "https://127.0.0.1:") +
           std::to_string(port_);
  }
  std::string target() const {
    base::MutexLock lock(mu_);
    return target_;
  }
  std::string authorization() const {
    base::MutexLock lock(mu_);
    return authorization_;
  }
  int requests() const {
    base::MutexLock lock(mu_);
    return requests_;
  }

 private:
  void Accept() {
    std::vector<std::jthread> serving;
    while (true) {
      error_code error;
      auto context = std::make_unique<asio::io_context>(1);
      tcp::socket socket(*context);
      acceptor_.accept(socket, error);
      {
        base::MutexLock lock(mu_);
        if (stopping_) {
          return;
        }
      }
      if (options_.at_once) {
        serving.emplace_back(
            [this, context = std::move(context), peer = std::move(socket)]() mutable {
              tcp::socket mine(std::move(peer));  // It ends before its context.
              ServeSocket(mine);
            });
      } else {
        ServeSocket(socket);
      }
    }
  }

  void ServeSocket(tcp::socket& socket) {
    if (options_.certificate.empty()) {
      Serve(socket);
      return;
    }
    error_code error;
    asio::ssl::stream<tcp::socket&> stream(socket, tls_);
    stream.handshake(asio::ssl::stream_base::server, error);
    if (!error) {
      Serve(stream);
    }
  }

  template <class Stream>
  void Serve(Stream& stream) {
    beast::flat_buffer buffer;
    bhttp::request<bhttp::string_body> request;
    error_code error;
    bhttp::read(stream, buffer, request, error);
    if (error) {
      return;
    }
    {
      base::MutexLock lock(mu_);
      target_ = std::string(request.target());
      authorization_ = std::string(request[bhttp::field::authorization]);
      ++requests_;
    }
    Refusal refusal = options_.refuse;
    if (options_.accepts && !options_.accepts(std::string(request[bhttp::field::authorization]))) {
      refusal = {.code = 401, .content_type = "text/plain", .body = "Unauthorized"};
    }
    if (refusal.code != 0) {
      bhttp::response<bhttp::string_body> response(static_cast<bhttp::status>(refusal.code), 11);
      response.set(bhttp::field::content_type, refusal.content_type);
      response.body() = refusal.body;
      response.prepare_payload();
      bhttp::write(stream, response, error);
      return;
    }
    websocket::stream<Stream&> ws(stream);
    ws.set_option(websocket::stream_base::decorator([this](websocket::response_type& response) {
      response.set(bhttp::field::sec_websocket_protocol, options_.protocol);
    }));
    ws.accept(request, error);
    if (!error) {
      Connection<Stream> connection(ws, std::string(request.target()));
      options_.script(connection);
    }
  }

  const Options options_;
  asio::io_context context_{1};
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  mutable base::Mutex mu_;
  bool stopping_ KX_GUARDED_BY(mu_) = false;
  std::string target_ KX_GUARDED_BY(mu_);
  std::string authorization_ KX_GUARDED_BY(mu_);
  int requests_ KX_GUARDED_BY(mu_) = 0;
  std::jthread thread_;
};

WebSocketServer::WebSocketServer(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
WebSocketServer::~WebSocketServer() = default;
std::string WebSocketServer::Url() const { return impl_->Url(); }
std::string WebSocketServer::last_target() const { return impl_->target(); }
std::string WebSocketServer::last_authorization() const { return impl_->authorization(); }
int WebSocketServer::requests() const { return impl_->requests(); }

}  // namespace kubexx::remotecommand::testing
