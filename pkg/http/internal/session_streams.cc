#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_prefix.hpp>
#include <boost/beast/core/buffers_suffix.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <memory>
#include <optional>

#include "kubexx/http/internal/direct_stream.h"
#include "kubexx/http/internal/openssl.h"
#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using tcp = asio::ip::tcp;

asio::io_context& ContextOf(tcp::socket& socket) {
  return static_cast<asio::io_context&>(socket.get_executor().context());
}

/// How much is written before others that write as much have their turn.
constexpr std::size_t kPiece = 128 << 10;
/// What is less is written at once.
constexpr std::size_t kMuchToWrite = 32 << 10;

template <class Stream>
class StreamSession : public Session {
 public:
  StreamSession(asio::io_context& context, Host& host) : Session(context, host) {}

 protected:
  void AsyncReadSome(asio::mutable_buffer buffer, SomeRead done) override {
    stream_->async_read_some(buffer, std::move(done));
  }
  void AsyncWrite(const std::vector<asio::const_buffer>& buffers, Done done) override {
    auto unwritten = std::make_shared<Unwritten>(
        Unwritten{.rest = beast::buffers_suffix<std::vector<asio::const_buffer>>(buffers),
                  .done = std::move(done)});
    if (asio::buffer_size(buffers) < kMuchToWrite) {
      WritePiece(std::move(unwritten));
    } else {
      WriteInTurn(std::move(unwritten));
    }
  }
  bool WriteAtOnce(const std::vector<asio::const_buffer>& buffers, error_code& error) override {
    // More than a TLS record would be copied for a client that is slow.
    constexpr std::size_t kMaxAtOnce = 16 << 10;
    if (direct().writing() || direct().has_rest() || asio::buffer_size(buffers) > kMaxAtOnce) {
      return false;
    }
    asio::write(*stream_, buffers, error);
    return true;
  }
  bool HasRest() override { return direct().has_rest(); }
  void AsyncFlush(Done done) override { direct().Flush(std::move(done)); }

  /// What AsyncWrite has not written yet.
  struct Unwritten {
    beast::buffers_suffix<std::vector<asio::const_buffer>> rest;
    Done done;              // keeps the session alive
    std::size_t noted = 0;  // of the present piece: what NoteTaken was told of

    /// Returns how many bytes the client has received since the last call for this piece.
    std::size_t Taken(std::size_t written) { return written - std::exchange(noted, written); }
  };
  void WriteInTurn(std::shared_ptr<Unwritten> unwritten) {
    host().InTurn(Dear::kPiece, shared_from_this(),
                  [this, unwritten = std::move(unwritten)] { WritePiece(unwritten); });
  }
  void WritePiece(std::shared_ptr<Unwritten> unwritten) {
    NoteTurn();
    unwritten->noted = 0;
    // Asked before each operation. The time is set anew each time: the client may have more when it
    // has received something, and a read that begins while nothing is being written sets the time
    // of both.
    const auto next = [this, unwritten](const error_code& error, std::size_t written) {
      if (written > unwritten->noted) {
        NoteTaken(unwritten->Taken(written));
      }
      tcp().expires_at(write_deadline());
      return error ? 0 : kPiece;
    };
    const auto piece = beast::buffers_prefix(kPiece, unwritten->rest);
    asio::async_write(*stream_, piece, next,
                      [this, unwritten](error_code error, std::size_t written) {
                        NoteTaken(unwritten->Taken(written));  // nobody asks after the last one
                        unwritten->rest.consume(written);
                        if (error || beast::buffer_bytes(unwritten->rest) == 0) {
                          const Done done = std::move(unwritten->done);
                          done(error);
                        } else {
                          WriteInTurn(unwritten);
                        }
                      });
  }

  virtual DirectStream& direct() = 0;
  beast::tcp_stream& tcp() override { return direct().next_layer(); }

  std::optional<Stream> stream_{};
};

class PlainSession final : public StreamSession<DirectStream> {
 public:
  PlainSession(tcp::socket socket, Host& host) : StreamSession(ContextOf(socket), host) {
    stream_.emplace(std::move(socket));
  }

 protected:
  DirectStream& direct() override { return *stream_; }
  void AsyncHandshake(Done done) override { done({}); }
  void AsyncShutdown(Done done) override { done({}); }
};

class TlsSession final : public StreamSession<beast::ssl_stream<DirectStream>> {
 public:
  TlsSession(tcp::socket socket, Host& host, std::shared_ptr<asio::ssl::context> tls)
      : StreamSession(ContextOf(socket), host), tls_(std::move(tls)), silent_(std::move(socket)) {}

 protected:
  DirectStream& direct() override { return stream_->next_layer(); }
  beast::tcp_stream& tcp() override { return stream_ ? direct().next_layer() : silent_; }
  /// What TLS needs is a hundred times what the connection is: it is made when the client has
  /// begun.
  void AsyncHandshake(Done done) override {
    silent_.socket().async_wait(
        tcp::socket::wait_read, [this, done = std::move(done)](error_code error) mutable {
          if (error || !silent_.socket().is_open()) {
            return done(error ? error : asio::error::operation_aborted);
          }
          host().InTurn(Dear::kHandshake, shared_from_this(),
                        [this, done = std::move(done)] { ShakeHands(done); });
        });
  }
  void AsyncShutdown(Done done) override { stream_->async_shutdown(std::move(done)); }
  Peer PeerOfClient() override {
    const Certificate certificate(SSL_get1_peer_certificate(stream_->native_handle()));
    if (certificate == nullptr) {
      return {};
    }
    return WasRefused(*stream_->native_handle()) ? Peer{.refused = true} : SubjectOf(*certificate);
  }

 private:
  void ShakeHands(Done done) {
    if (!silent_.socket().is_open()) {
      return done(asio::error::operation_aborted);
    }
    stream_.emplace(silent_.release_socket(), *tls_);
    stream_->async_handshake(asio::ssl::stream_base::server, std::move(done));
  }

  std::shared_ptr<asio::ssl::context> tls_;
  beast::tcp_stream silent_;  // Until the client has said something.
};

}  // namespace

std::shared_ptr<Session> MakeSession(tcp::socket socket, Host& host,
                                     std::shared_ptr<asio::ssl::context> tls) {
  if (tls == nullptr) {
    return std::make_shared<PlainSession>(std::move(socket), host);
  }
  return std::make_shared<TlsSession>(std::move(socket), host, std::move(tls));
}

}  // namespace kubexx::http::internal
