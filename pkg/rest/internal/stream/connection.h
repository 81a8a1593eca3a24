/// @file
/// Connection: one TCP connection, with TLS if it is needed. Its operations never block.
#ifndef KUBEXX_REST_INTERNAL_STREAM_CONNECTION_H_
#define KUBEXX_REST_INTERNAL_STREAM_CONNECTION_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/rest/internal/stream/tls_context.h"

namespace kubexx::rest::internal {

/// Owns a connected socket and closes it. Not thread-safe, but it may be passed from one thread to
/// another.
class Connection {
 public:
  enum class Io : std::uint8_t {
    kDone,
    kWantRead,   ///< nothing can be done until the socket can be read
    kWantWrite,  ///< nothing can be done until the socket can be written
    kEnd,        ///< the peer has closed
    kFailed,     ///< see failure()
  };
  static constexpr bool IsWant(Io io) { return io == Io::kWantRead || io == Io::kWantWrite; }
  struct Step {
    Io io = Io::kFailed;
    std::size_t bytes = 0;  ///< of kDone
  };

  /// Takes the ownership of the socket, which must be non-blocking.
  explicit Connection(int fd) : fd_(fd) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Makes everything from here on go through TLS; the first step is Handshake. If the connection
  /// has TLS already, for example to a proxy, the new session is inside of that one. Returns false
  /// when there is not enough memory.
  bool AddTls(std::shared_ptr<TlsContext> context);
  /// Continues the handshake of the last AddTls.
  Step Handshake();

  /// Has the next Handshake offer HTTP/2 beside HTTP/1.1 (ALPN).
  void OfferHttp2();
  /// Whether the server has chosen HTTP/2 in the handshake.
  bool HasChosenHttp2() const;

  Step Read(char* to, std::size_t size);
  Step Write(std::string_view bytes);

  /// Makes OpenSSL overwrite the decrypted bytes as soon as they have been read.
  void WipePlaintext();

  int fd() const { return fd_; }
  /// Whether another request can be sent on the connection: nothing has come that was not asked
  /// for, neither bytes nor the end of the connection.
  bool IsUsable() const;
  /// The reason why a step failed, for example "connection reset by peer". It is empty when the
  /// peer ended the connection without TLS's close message.
  const std::string& failure() const { return failure_; }
  /// Whether TLS failed, and not the socket below it.
  bool tls_failed() const { return tls_failed_; }

  /// The time of the last use, which the owner sets when it keeps the connection for later.
  base::TimePoint idle_since{};

 private:
  // The layer that one TLS session reads from and writes to: either the session outside of it or
  // the socket.
  struct Below {
    int fd = -1;
    SSL* outer = nullptr;
  };
  struct Layer {
    std::shared_ptr<TlsContext> context{};
    SSL* ssl = nullptr;
    std::unique_ptr<Below> below{};
  };

  static BIO_METHOD* Method();
  static int OnRead(BIO* bio, char* to, std::size_t size, std::size_t* read);
  static int OnWrite(BIO* bio, const char* from, std::size_t size, std::size_t* written);
  static long OnControl(BIO* bio, int command, long number, void* pointer);

  SSL* top() const { return inner_.ssl != nullptr ? inner_.ssl : outer_.ssl; }
  Step Explain(int result);
  Step ExplainErrno(bool reading);

  const int fd_;
  Layer outer_;  ///< on the socket
  Layer inner_;  ///< inside of the outer one
  std::string failure_{};
  bool tls_failed_ = false;
  bool broken_ = false;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_CONNECTION_H_
