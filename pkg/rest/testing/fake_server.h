/// @file
/// A scripted HTTP/1.1 server in the test's process, for what a real API server will not do on
/// request: slow, broken, endless and refused responses, with or without TLS.
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

/// A request as it came, whole. A value type.
struct FakeRequest {
  std::string method{};
  std::string target{};
  /// Names in lower case; several headers of one name are lines of one value.
  std::map<std::string, std::string> headers{};
  std::string body{};
};

/// One accepted connection, used by the one thread that its script runs on. Writes return false
/// when the peer is gone.
class FakeConnection {
 public:
  FakeConnection(int fd, void* ssl_context);
  FakeConnection(const FakeConnection&) = delete;
  FakeConnection& operator=(const FakeConnection&) = delete;
  ~FakeConnection();

  /// The TLS handshake, done before the script runs. False when it failed.
  bool Handshake();
  /// The next request, or nothing when the peer has closed or broke off.
  std::optional<FakeRequest> ReadRequest();
  bool Write(std::string_view bytes);
  /// A whole response with Content-Length.
  bool Respond(int code, std::string_view content_type, std::string_view body,
               const std::vector<std::pair<std::string, std::string>>& headers = {});
  /// The head of a chunked response; WriteChunk and EndChunks follow.
  bool RespondChunked(int code, std::string_view content_type);
  bool WriteChunk(std::string_view bytes);
  bool EndChunks();
  /// Blocks until the peer closes the connection or sends something.
  void AwaitPeer();
  /// Drops the connection with a reset instead of an orderly close.
  void Reset();
  /// Ends reads and writes of another thread. Thread-safe.
  void Shutdown();
  /// Subject of the client's certificate, for example "CN=admin"; "" without one.
  std::string ClientSubject() const;
  /// Of the socket, which stays this object's.
  int fd() const { return fd_; }
  /// The name that the client asked for in its hello (SNI), or "".
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
};

/// Where a FakeServer listens.
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
  /// "http://127.0.0.1:port" or "https://...", with "[::1]" where it listens there.
  std::string Url() const;
  /// Connections accepted so far.
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
  /// Those whose scripts have ended.
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

/// A port of 127.0.0.1 that nothing listens on.
int UnusedPort();

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_FAKE_SERVER_H_
