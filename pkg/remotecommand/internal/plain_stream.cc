#include <utility>
// Asio needs <utility> first.
#include <boost/beast/websocket/teardown.hpp>

#include "kubexx/remotecommand/internal/byte_stream.h"

namespace kubexx::remotecommand::internal {
namespace {

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(boost::asio::io_context& context) : tcp_(context) {}

  boost::beast::tcp_stream& tcp() override { return tcp_; }
  void AsyncReadSome(boost::asio::mutable_buffer into, SomeDone done) override {
    tcp_.async_read_some(into, std::move(done));
  }
  void AsyncWriteSome(const Pieces& pieces, SomeDone done) override {
    tcp_.async_write_some(pieces, std::move(done));
  }
  void AsyncTeardown(boost::beast::role_type role, Done done) override {
    boost::beast::websocket::async_teardown(role, tcp_.socket(), std::move(done));
  }

 private:
  boost::beast::tcp_stream tcp_;
};

}  // namespace

std::unique_ptr<ByteStream> MakePlainStream(boost::asio::io_context& context) {
  return std::make_unique<PlainStream>(context);
}

}  // namespace kubexx::remotecommand::internal
