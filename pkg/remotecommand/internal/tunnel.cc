#include "kubexx/remotecommand/internal/tunnel.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <utility>

#include "kubexx/codec/base64.h"

namespace kubexx::remotecommand::internal {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using boost::system::error_code;

constexpr std::uint32_t kMaxHead = 64 << 10;

class TunnelRequest : public std::enable_shared_from_this<TunnelRequest> {
 public:
  TunnelRequest(beast::tcp_stream& stream, const rest::StreamAccess& access,
                std::function<void(std::string)> done)
      : tcp_(stream),
        request_(bhttp::verb::connect, access.server.Authority(), 11),
        done_(std::move(done)) {
    request_.set(bhttp::field::host, access.server.Authority());
    if (!access.proxy->username.empty()) {
      request_.set(
          bhttp::field::proxy_authorization,
          "Basic " + codec::EncodeBase64(access.proxy->username + ":" + access.proxy->password));
    }
    response_.skip(true);  // What follows the head is the server's.
    response_.header_limit(kMaxHead);
  }

  void Start() {
    bhttp::async_write(tcp_, request_, [self = shared_from_this()](error_code error, std::size_t) {
      error ? self->done_(error.message()) : self->ReadAnswer();
    });
  }

 private:
  void ReadAnswer() {
    bhttp::async_read_header(tcp_, buffer_, response_,
                             [self = shared_from_this()](error_code error, std::size_t) {
                               self->done_(error ? error.message() : self->Judge());
                             });
  }

  std::string Judge() const {
    const unsigned code = response_.get().result_int();
    if (code < 200 || code > 299) {
      return "the proxy refused a tunnel: " + std::to_string(code);
    }
    return buffer_.size() > 0 ? "the proxy sent data of its own through the tunnel" : "";
  }

  beast::tcp_stream& tcp_;
  bhttp::request<bhttp::empty_body> request_;
  bhttp::response_parser<bhttp::empty_body> response_;
  beast::flat_buffer buffer_{kMaxHead};
  const std::function<void(std::string)> done_;
};

}  // namespace

void AsyncOpenTunnel(beast::tcp_stream& stream, const rest::StreamAccess& access,
                     std::function<void(std::string why)> done) {
  std::make_shared<TunnelRequest>(stream, access, std::move(done))->Start();
}

}  // namespace kubexx::remotecommand::internal
