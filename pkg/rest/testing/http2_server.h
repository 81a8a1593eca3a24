/// @file
/// Http2Server: a server in the test's process that speaks HTTP/2 over TLS, and does what a test
/// tells it to.
#ifndef KUBEXX_REST_TESTING_HTTP2_SERVER_H_
#define KUBEXX_REST_TESTING_HTTP2_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/file_descriptor.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

/// Listens on 127.0.0.1, and serves all connections on one thread of its own. Frames go through
/// nghttp2, so the server keeps to the client's windows. What comes without HTTP/2 is answered over
/// HTTP/1.1 with a body that does not end. Thread-safe: what a test asks for is done
/// on that thread, in order, soon.
class Http2Server {
 public:
  struct Options {
    std::uint32_t max_streams = 100;
  };
  /// A request that has come as a whole. A value type.
  struct Request {
    int connection = 0;  ///< counts from 0
    std::int32_t stream = 0;
    std::string path{};
    std::map<std::string, std::string> headers{};
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  Http2Server() : Http2Server(Options()) {}
  explicit Http2Server(Options options);
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;
  ~Http2Server();

  std::string Url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  /// How many connections there have been.
  int connections() const;
  /// How many are open.
  int open_connections() const;
  std::vector<Request> requests() const;
  /// How many streams the client has reset.
  int resets() const;
  /// What the client's window of this stream has held back so far.
  std::size_t held_back(const Request& request) const;

  void Respond(const Request& request, int code, Headers headers = {});
  void Send(const Request& request, std::string bytes);
  void End(const Request& request);
  void Reset(const Request& request, std::uint32_t code);
  /// Says that it takes no more streams, nor any after `last`.
  void GoAway(int connection, std::int32_t last);
  /// Closes the connection.
  void Drop(int connection);
  /// Reads and answers nothing on a connection any more, as a server that has vanished.
  void Freeze(int connection);
  /// Sends bytes as they are.
  void SendRaw(int connection, std::string bytes);

 private:
  struct Stream;
  struct Peer;
  struct Callbacks;

  void Post(std::function<void()> command);
  void OnPeer(int connection, std::function<void(Peer&)> command);
  void Run(const std::stop_token& stop);
  void Accept();
  void Serve(Peer& peer);
  static void Flush(Peer& peer);

  const Options options_;
  void* const context_;
  base::FileDescriptor listener_;
  base::FileDescriptor wake_;
  int port_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;  // of the thread
  mutable base::Mutex mu_;
  std::vector<std::function<void()>> commands_ KX_GUARDED_BY(mu_);
  std::vector<Request> requests_ KX_GUARDED_BY(mu_);
  std::map<std::pair<int, std::int32_t>, std::size_t> held_back_ KX_GUARDED_BY(mu_);
  int accepted_ KX_GUARDED_BY(mu_) = 0;
  int closed_ KX_GUARDED_BY(mu_) = 0;
  int resets_ KX_GUARDED_BY(mu_) = 0;
  std::jthread thread_;
};

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_HTTP2_SERVER_H_
