/// @file
/// WebSocketServer: a scripted WebSocket server in the test's process.
#ifndef KUBEXX_REMOTECOMMAND_TESTING_WEB_SOCKET_SERVER_H_
#define KUBEXX_REMOTECOMMAND_TESTING_WEB_SOCKET_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kubexx::remotecommand::testing {

/// One upgraded connection, used only by the thread that serves it. It reports no errors when the
/// peer has closed the connection.
class ServerConnection {
 public:
  virtual ~ServerConnection() = default;
  /// Returns the next message; std::nullopt when the peer has closed.
  virtual std::optional<std::string> Read() = 0;
  virtual void Write(std::string_view message) = 0;
  /// Writes bytes that need not be a frame.
  virtual void WriteBytes(std::string_view bytes) = 0;
  /// The same, and closes the connection.
  virtual void WriteRaw(std::string_view bytes) = 0;
  /// Closes the WebSocket; 0: without a code.
  virtual void Close(std::uint16_t code, std::string_view reason = {}) = 0;
  /// Reads until the peer has closed the connection.
  virtual void AwaitPeer() = 0;
  /// Pings seen so far.
  virtual int pings() const = 0;
  /// The target of its request.
  virtual const std::string& target() const = 0;
};

/// Listens on 127.0.0.1 and serves one connection after the other on a thread of its own, or all at
/// once.
class WebSocketServer {
 public:
  using Script = std::function<void(ServerConnection&)>;
  /// A response to send instead of the upgrade.
  struct Refusal {
    int code = 0;  ///< 0: upgrade
    std::string content_type{};
    std::string body{};
  };
  struct Options {
    Script script = [](ServerConnection&) {};
    /// Each connection has a thread, so that `script` and `accepts` run on several at a time.
    bool at_once = false;
    Refusal refuse{};
    /// Returns whether to serve a request with this Authorization; if not, it gets 401. Called on
    /// the server's thread.
    std::function<bool(const std::string&)> accepts{};
    std::string protocol = "v5.channel.k8s.io";
    std::string certificate{};  ///< PEM; empty: no TLS
    std::string key{};
  };

  explicit WebSocketServer(Options options);
  ~WebSocketServer();
  WebSocketServer(const WebSocketServer&) = delete;
  WebSocketServer& operator=(const WebSocketServer&) = delete;

  std::string Url() const;
  /// The target of the last request that was read completely; "" before the first.
  std::string last_target() const;
  std::string last_authorization() const;
  /// The number of requests that were read completely.
  int requests() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::remotecommand::testing

#endif  // KUBEXX_REMOTECOMMAND_TESTING_WEB_SOCKET_SERVER_H_
