/// @file
/// ByteStream: the connection below a WebSocket, which is TCP with or without TLS.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_BYTE_STREAM_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_BYTE_STREAM_H_

#include <utility>
// Asio needs <utility> first.
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/stream_access.h"
#include "kubexx/rest/tls_setup.h"

namespace kubexx::remotecommand::internal {

/// For one thread. The io_context calls the handlers of operations.
class ByteStream {
 public:
  using Done = std::move_only_function<void(boost::system::error_code)>;
  using SomeDone = std::move_only_function<void(boost::system::error_code, std::size_t)>;
  /// The buffers of a write; the last ones may be empty.
  using Pieces = std::array<boost::asio::const_buffer, 4>;

  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// The TCP stream, which is below TLS.
  virtual boost::beast::tcp_stream& tcp() = 0;
  /// The stream that TLS is spoken over; null for one without TLS.
  virtual ByteStream* below() { return nullptr; }
  /// Does the TLS handshake, if there is TLS.
  virtual void AsyncHandshake(Done done) { done({}); }
  /// The details of a failed TLS handshake in addition to its error code.
  virtual std::string HandshakeDetail() { return {}; }

  virtual void AsyncReadSome(boost::asio::mutable_buffer into, SomeDone done) = 0;
  virtual void AsyncWriteSome(const Pieces& pieces, SomeDone done) = 0;
  /// Ends the connection after the last frames of the WebSocket.
  virtual void AsyncTeardown(boost::beast::role_type role, Done done) = 0;

 protected:
  ByteStream() = default;
};

std::unique_ptr<ByteStream> MakePlainStream(boost::asio::io_context& context);
/// TLS over `below`, which may have TLS itself: then it leads to a proxy. Returns kInvalidConfig
/// when the TLS settings cannot be used.
apimachinery::Result<std::unique_ptr<ByteStream>> MakeTlsStream(boost::asio::io_context& context,
                                                                rest::TlsSetup setup,
                                                                std::unique_ptr<ByteStream> below);
/// The stream to the server of `access`, with TLS to its proxy and to itself where there is TLS.
/// Returns kInvalidConfig when the TLS settings cannot be used.
apimachinery::Result<std::unique_ptr<ByteStream>> MakeStream(boost::asio::io_context& context,
                                                             const rest::StreamAccess& access);

/// Adapts a ByteStream for Beast and for Asio's TLS. Compiling Beast's WebSocket takes half a
/// minute for each type of stream, so all streams have this one type.
class AnyStream {
 public:
  using executor_type = boost::asio::io_context::executor_type;
  /// Only for its executor, which Asio's TLS takes from there.
  using lowest_layer_type = AnyStream;

  AnyStream(boost::asio::io_context& context, std::unique_ptr<ByteStream> bytes)
      : context_(&context), bytes_(std::move(bytes)) {}

  executor_type get_executor() noexcept { return context_->get_executor(); }
  lowest_layer_type& lowest_layer() { return *this; }
  ByteStream& bytes() { return *bytes_; }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    boost::asio::mutable_buffer into;
    for (auto each = boost::asio::buffer_sequence_begin(buffers);
         into.size() == 0 && each != boost::asio::buffer_sequence_end(buffers); ++each) {
      into = *each;
    }
    bytes_->AsyncReadSome(into, std::forward<Handler>(handler));
  }

  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    ByteStream::Pieces pieces;
    auto next = pieces.begin();
    for (auto each = boost::asio::buffer_sequence_begin(buffers);
         next != pieces.end() && each != boost::asio::buffer_sequence_end(buffers); ++each) {
      if (const boost::asio::const_buffer piece = *each; piece.size() > 0) {
        *next++ = piece;
      }
    }
    bytes_->AsyncWriteSome(pieces, std::forward<Handler>(handler));
  }

 private:
  boost::asio::io_context* context_;
  std::unique_ptr<ByteStream> bytes_;
};

// Beast finds these by their names.
template <class Handler>
void async_teardown(boost::beast::role_type role, AnyStream& stream, Handler&& handler) {
  stream.bytes().AsyncTeardown(role, std::forward<Handler>(handler));
}
inline void beast_close_socket(AnyStream& stream) { stream.bytes().tcp().close(); }

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_BYTE_STREAM_H_
