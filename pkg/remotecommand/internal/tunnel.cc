#include "kubexx/remotecommand/internal/tunnel.h"

#include <utility>
// Asio needs <utility> first.
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>
#include <string_view>

#include "kubexx/rest/proxy_tunnel.h"

namespace kubexx::remotecommand::internal {
namespace {

using boost::system::error_code;

class TunnelRequest : public std::enable_shared_from_this<TunnelRequest> {
 public:
  TunnelRequest(ByteStream& stream, rest::ProxyTunnel tunnel, std::function<void(std::string)> done)
      : stream_(stream), tunnel_(std::move(tunnel)), done_(std::move(done)) {}

  void GoOn() {
    if (tunnel_.is_open()) {
      done_("");
      return;
    }
    output_ = tunnel_.TakeOutput();
    left_ = output_;
    left_.empty() ? Read() : Write();
  }

 private:
  void Write() {
    stream_.AsyncWriteSome({boost::asio::buffer(left_)},
                           [self = shared_from_this()](error_code error, std::size_t written) {
                             if (error) {
                               self->Fail(error);
                               return;
                             }
                             self->left_.remove_prefix(written);
                             self->left_.empty() ? self->Read() : self->Write();
                           });
  }

  void Read() {
    stream_.AsyncReadSome(boost::asio::buffer(input_),
                          [self = shared_from_this()](error_code error, std::size_t read) {
                            if (error) {
                              self->Fail(error);
                              return;
                            }
                            const auto fed = self->tunnel_.Feed({self->input_.data(), read});
                            fed ? self->GoOn() : self->done_(fed.error().message);
                          });
  }

  void Fail(error_code error) {
    const bool aborted = error == boost::asio::error::operation_aborted;
    done_(aborted ? error.message() : tunnel_.WhenClosed().message);
  }

  ByteStream& stream_;
  rest::ProxyTunnel tunnel_;
  std::string output_{};
  std::string_view left_{};  ///< of output_, to be sent
  std::array<char, 4096> input_{};
  const std::function<void(std::string)> done_;
};

}  // namespace

void AsyncOpenTunnel(ByteStream& stream, const rest::StreamAccess& access,
                     std::function<void(std::string why)> done) {
  auto tunnel = rest::ProxyTunnel::New(*access.proxy, access.server);
  if (!tunnel) {
    done(tunnel.error().message);
    return;
  }
  std::make_shared<TunnelRequest>(stream, std::move(*tunnel), std::move(done))->GoOn();
}

}  // namespace kubexx::remotecommand::internal
