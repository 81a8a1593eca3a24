/// @file
/// Connection: one TCP connection with TLS if it has some, which never blocks.
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

/// A connected socket. Closes it. Not thread-safe; may go from one thread to another.
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

  /// Takes the socket, which must not block.
  explicit Connection(int fd) : fd_(fd) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Everything from here on goes through TLS; Handshake does the first of it. On a connection that
  /// has TLS already, as that to a proxy, the new one is inside of it. False when memory is short.
  bool AddTls(std::shared_ptr<TlsContext> context);
  /// Goes on with the handshake of the last AddTls.
  Step Handshake();

  /// Has the next Handshake offer HTTP/2 beside HTTP/1.1 (ALPN).
  void OfferHttp2();
  /// Whether the server has chosen HTTP/2 in the handshake.
  bool HasChosenHttp2() const;

  Step Read(char* to, std::size_t size);
  Step Write(std::string_view bytes);

  /// Makes OpenSSL overwrite what it has decrypted as soon as it has been read.
  void WipePlaintext();

  int fd() const { return fd_; }
  /// Whether nothing has come that nobody has asked for, as bytes or as the end of the connection:
  /// another request can be sent on it.
  bool IsUsable() const;
  /// Why a step failed: "connection reset by peer". Empty when the peer ended the connection
  /// without saying so in TLS.
  const std::string& failure() const { return failure_; }
  /// Whether TLS failed, not the socket below it.
  bool tls_failed() const { return tls_failed_; }

  /// When it was last used, for whoever keeps it for later.
  base::TimePoint idle_since{};

 private:
  // What one session of TLS reads from and writes to: the session outside of it, or the socket.
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
