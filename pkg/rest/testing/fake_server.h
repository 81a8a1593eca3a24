/// @file
/// FakeServer: a scripted HTTP/1.1 server in the test's process. It sends what a real API server
/// does not send on request: slow, broken, endless and error responses, with or without TLS.
#ifndef KUBEXX_REST_TESTING_FAKE_SERVER_H_
#define KUBEXX_REST_TESTING_FAKE_SERVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"

namespace kubexx::rest::testing {

/// A complete request as it was received. A value type.
struct FakeRequest {
  std::string method{};
  std::string target{};
  /// Header names are in lower case; several headers of one name become lines of one value.
  std::map<std::string, std::string> headers{};
  std::string body{};
};

/// One accepted connection, which only the thread of its script uses. Writes return false when the
/// peer has closed the connection.
class FakeConnection {
 public:
  FakeConnection(int fd, void* ssl_context);
  FakeConnection(const FakeConnection&) = delete;
  FakeConnection& operator=(const FakeConnection&) = delete;
  ~FakeConnection();

  /// Does the TLS handshake; called before the script runs. False when it failed.
  bool Handshake();
  /// Returns the next request, or std::nullopt when the peer has closed or broken the connection.
  std::optional<FakeRequest> ReadRequest();
  /// Returns what comes next, or an empty text when the peer has closed or broken the connection.
  std::string ReadSome();
  /// Whether ReadSome returns something that has come already, so that the socket need not be
  /// readable.
  bool HasUnread() const;
  /// Whether the peer has offered HTTP/2, and the server has chosen it.
  bool SpeaksHttp2() const;
  bool Write(std::string_view bytes);
  /// Sends a whole response with Content-Length.
  bool Respond(int code, std::string_view content_type, std::string_view body,
               const std::vector<std::pair<std::string, std::string>>& headers = {});
  /// Sends the head of a chunked response; WriteChunk and EndChunks follow.
  bool RespondChunked(int code, std::string_view content_type);
  bool WriteChunk(std::string_view bytes);
  bool EndChunks();
  /// Blocks until the peer closes the connection or sends something.
  void AwaitPeer();
  /// Tells the peer in TLS that nothing more comes; only does something with TLS.
  void EndTls();
  /// Drops the connection with a reset instead of an orderly close.
  void Reset();
  /// Ends the reads and writes of the script's thread. Thread-safe.
  void Shutdown();
  /// The subject of the client's certificate, for example "CN=admin"; "" without one.
  std::string ClientSubject() const;
  /// The descriptor of the socket, which this object owns.
  int fd() const { return fd_; }
  /// The server name that the client sent in the TLS handshake (SNI), or "".
  std::string ServerName() const;

 private:
  class Tls;

  bool Fill();

  int fd_;
  std::unique_ptr<Tls> tls_;
  std::string input_;
};

/// PEM material of a FakeServer with TLS.
struct FakeServerTls {
  std::string certificate{};
  std::string key{};
  /// When set, a client certificate that this CA signed is required.
  std::string client_ca{};
  /// Whether HTTP/2 is chosen in the handshake when the client offers it. The script then speaks
  /// it, with ReadSome and Write.
  bool http2 = false;
};

/// The address on which a FakeServer listens.
enum class Loopback : std::uint8_t { kIpv4, kIpv6 };

/// Listens on 127.0.0.1, or on ::1, with a port of its own and runs `script` on a thread per
/// connection. Its destructor breaks all connections and joins the threads.
class FakeServer {
 public:
  using Script = std::function<void(FakeConnection&)>;

  explicit FakeServer(Script script, std::optional<FakeServerTls> tls = std::nullopt,
                      Loopback loopback = Loopback::kIpv4);
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer();

  int port() const { return port_; }
  /// "http://127.0.0.1:port" or "https://...", with "[::1]" for IPv6.
  std::string Url() const;
  /// The number of connections accepted so far.
  int connections() const;
  /// Breaks all connections that are open now.
  void DropConnections();

 private:
  struct Session {
    std::unique_ptr<FakeConnection> connection{};
    std::atomic<bool> over = false;
    std::jthread thread{};
  };

  void Accept();
  /// Takes out the sessions whose scripts have ended.
  std::list<Session> TakeOverLocked() KX_REQUIRES(mu_);

  Script script_;
  const Loopback loopback_;
  void* ssl_context_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  mutable base::Mutex mu_;
  bool stopping_ KX_GUARDED_BY(mu_) = false;
  int accepted_ KX_GUARDED_BY(mu_) = 0;
  std::list<Session> sessions_ KX_GUARDED_BY(mu_);
  std::jthread acceptor_;
};

/// Whether this machine has ::1.
bool HasIpv6();

/// Returns a port of 127.0.0.1 that nothing listens on, and that the kernel chooses for nobody.
int UnusedPort();

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_FAKE_SERVER_H_
