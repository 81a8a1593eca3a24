/// @file
/// Session: one connection of a server.
#ifndef KUBEXX_HTTP_INTERNAL_SESSION_H_
#define KUBEXX_HTTP_INTERNAL_SESSION_H_

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/http/internal/request_parser.h"
#include "kubexx/http/internal/websocket_frames.h"
#include "kubexx/http/internal/write_limit.h"
#include "kubexx/http/server.h"

namespace kubexx::http::internal {

class Session;
using Sessions = std::list<std::shared_ptr<Session>>;

/// The kinds of steps that take long compared to a request. Each kind has a queue of its own, so
/// that handshakes need not wait for clients that send or receive much.
enum class Dear : std::uint8_t { kHandshake, kPiece };

/// The interface of the server for its sessions.
class Host {
 public:
  virtual ~Host() = default;
  virtual const Server::Options& options() const = 0;
  /// The limit that the path of a request has for bodies, if it has one of its own.
  virtual std::optional<std::size_t> BodyLimit(const Request& header) = 0;
  /// Whether connections have to end with their next answer.
  virtual bool draining() const = 0;
  /// Handles a request; calls session->Deliver(serial, ...) on the network thread, at once or
  /// later.
  virtual void Serve(std::shared_ptr<Session> session, std::uint64_t serial, Request request) = 0;
  /// Reports that sessions hold `bytes` more (or, if negative, less) of unfinished bodies. May
  /// close sessions, including the caller.
  virtual void Hold(std::ptrdiff_t bytes) = 0;
  /// Like Hold, for unfinished headers.
  virtual void HoldHeader(std::ptrdiff_t bytes) = 0;
  /// Reports that `session` holds `bytes` more (or, if negative, less) of an answer that its client
  /// has not received. May close other sessions.
  virtual void HoldAnswer(const Session& session, std::ptrdiff_t bytes) = 0;
  /// Reports that `session` waits for a request from now on.
  virtual void MoveToBack(Sessions::iterator session) = 0;
  virtual void Remove(Sessions::iterator session) = 0;
  /// Calls `step` of `session` later, in its turn, on the network thread; also called there. For
  /// steps that take long compared to a request: of the clients that send much, receive much or
  /// shake hands, only a few have their turn at a time, so that other requests and answers need not
  /// wait for all of them.
  virtual void InTurn(Dear what, std::shared_ptr<Session> session, std::function<void()> step) = 0;
  /// Calls session->Wake() on the network thread, in its turn. Any thread may call it.
  virtual void Awake(std::weak_ptr<Session> session) = 0;
};

/// Used only on the server's network thread. Pending operations hold references to it. The classes
/// that MakeSession makes contain the differences between connections with and without TLS.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Done = std::function<void(boost::system::error_code)>;
  using SomeRead = std::function<void(boost::system::error_code, std::size_t)>;

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// Starts the session. `spare`: the server has more connections than its limit, so that this one
  /// is only for requests that are served then; see Host::Serve.
  void Start(Sessions::iterator self, bool spare);

  /// Passes the answer to the request `serial`. It is dropped when the session no longer waits for
  /// it, because the time is over or the connection is closed.
  void Deliver(std::uint64_t serial, Response response);

  /// Whether the session waits for a complete request. The server may then close it for a new
  /// connection.
  bool reading() const { return reading_; }
  /// Whether the session waits for a request, or for a handshake before the first one, and has
  /// received nothing of the request.
  bool idle() const;
  /// Whether the session waits for the rest of a request's header.
  bool has_unfinished_header() const;
  /// Whether the session is reading, or its client does not receive an answer that it got without
  /// being admitted.
  bool replaceable() const { return reading_ || (answering_ && !admitted_); }
  /// How many bytes of an unfinished body the session holds.
  std::size_t held_of_body() const { return reading_ ? held_ : 0; }
  /// How many bytes of an unfinished header the session holds.
  std::size_t held_of_header() const { return reading_ ? held_of_header_ : 0; }
  /// Since when the session holds a part of an unfinished header or body.
  std::chrono::steady_clock::time_point holding_since() const { return holding_since_; }
  /// How many bytes of an answer that is not a stream the session holds, until the client has
  /// received all of it.
  std::size_t held_of_answer() const { return held_of_answer_; }
  /// When the client last received a part of the answer.
  std::chrono::steady_clock::time_point taken_at() const { return taken_at_; }
  /// Whether the client of the last complete header is trusted.
  bool admitted() const { return admitted_; }
  /// The name that Server::Options::admit gave to that client; empty when it was not admitted.
  const std::string& client() const { return client_; }
  bool spare() const { return spare_; }

  void Close();
  /// Closes the session because code that ran for it has thrown, and logs that.
  void Fail(const std::exception& error);

  /// Sends what the stream has. Does nothing when the session is closed.
  void Wake();
  /// The same. Where that throws, which is for lack of memory, it closes the session and logs that.
  void WakeOrClose();

 protected:
  Session(boost::asio::io_context& context, Host& host) : host_(host), deadline_(context) {}

  Host& host() { return host_; }
  /// When the client is given up unless it receives more of what is being written.
  std::chrono::steady_clock::time_point write_deadline() const { return write_limit_.deadline(); }

  /// Wraps `step` so that it can run later: the result keeps the session alive, and closes it when
  /// `step` throws. Otherwise the session could stay for ever, because the server's list and other
  /// operations in progress also keep it.
  template <class Step>
  auto Guarded(Step step) {
    return [self = shared_from_this(), step = std::move(step)](auto... arguments) {
      try {
        step(arguments...);
      } catch (const std::exception& e) {  // Out of memory.
        self->Fail(e);
      }
    };
  }

  /// Must be called whenever the client has received a part of what is being written, with its
  /// size.
  void NoteTaken(std::size_t bytes) {
    taken_at_ = std::chrono::steady_clock::now();
    write_limit_.OnTaken(taken_at_, bytes);
  }
  /// Must be called when the client has waited for the server, and gets the next part now.
  void NoteTurn() { write_limit_.OnTaken(std::chrono::steady_clock::now(), 0); }

  virtual boost::beast::tcp_stream& tcp() = 0;
  virtual void AsyncHandshake(Done done) = 0;
  virtual void AsyncReadSome(boost::asio::mutable_buffer buffer, SomeRead done) = 0;
  /// Writes all buffers; `buffers` must live until `done`.
  virtual void AsyncWrite(const std::vector<boost::asio::const_buffer>& buffers, Done done) = 0;
  /// Writes a small amount without waiting; keeps the bytes that the client does not take yet for
  /// AsyncFlush. Returns false when this is not possible now, and nothing was written.
  virtual bool WriteAtOnce(const std::vector<boost::asio::const_buffer>& buffers,
                           boost::system::error_code& error) = 0;
  virtual bool HasRest() = 0;
  virtual void AsyncFlush(Done done) = 0;
  /// The subject of the client's certificate.
  virtual Peer PeerOfClient() { return {}; }
  /// Ends the connection in order.
  virtual void AsyncShutdown(Done done) = 0;

 private:
  enum class Part { kHeader, kRequest };

  // session_read.cc: a request, from its first byte to its last.
  void Read();
  /// Parses what has arrived and reads on until `part` is complete; then calls OnHeader or OnRead.
  void ReadUntil(Part part);
  void ReadSome(Part part, std::size_t room);
  void OnSomeRead(Part part, boost::system::error_code error, std::size_t size);
  void OnPart(Part part, boost::system::error_code error);
  /// Reports how much unfinished data there is; false when that has closed the session.
  bool HoldUnread(Part part);
  /// Report that the header, or the body, is no longer unfinished.
  void ReleaseHeader();
  void Release();
  void OnHeader(boost::system::error_code error);
  /// Asks Server::Options::admit whether to trust the sender of the header.
  void Admit();
  /// Sets the limit that the request's path has of its own, if any; whether the header tells that
  /// the body is longer.
  bool IsTooLongForItsPath();
  /// Responds to the request without its body, which is not read.
  void DropBody();
  /// Tells a client that waits for this that its body will be read, and reads it.
  void ReadBody();
  void OnRead(boost::system::error_code error);
  /// Returns whether the read has failed; the client has then been told.
  bool ReadFailed(boost::system::error_code error);
  std::chrono::milliseconds TimeToRead() const;

  /// Whether the server has an `admit` function and it has admitted the client.
  bool trusted() const { return admitted_ && host_.options().admit != nullptr; }
  void Respond();
  void OnDeadline();
  void Refuse(int status, std::string text);
  void Write(Response response, bool keep_alive, bool head);
  void OnWritten(boost::system::error_code error, bool keep_alive);
  /// From now on the client has to receive what is written.
  void BeginWrite();
  /// Reports that the answer's bytes no longer wait.
  void ReleaseAnswer();
  void CloseAfter(std::chrono::milliseconds time);

  // session_end.cc: the end of a connection whose client may still be sending.
  /// Tells the client that no more bytes follow, and lingers.
  void EndQuietly();
  /// Closes the connection when the client has closed it, or after some time. With unread bytes of
  /// the client the system would otherwise reset the connection, and the client might lose the
  /// answer.
  void Linger();
  void Drain();

  // session_ahead.cc: reading while a request is answered.
  void ReadAhead();
  void OnReadAhead(boost::system::error_code error, std::size_t size);
  /// Lets the read in progress continue with `part`.
  void AwaitReadAhead(Part part);

  // session_body.cc: a response in chunks, or in the messages of a WebSocket.
  void BeginStream(Response response);
  void WatchClient();
  void OnClientOfStream(boost::system::error_code error, std::string_view bytes);
  void TakeEarlyBytes();
  bool ReadFromWebSocket(std::string_view bytes);
  void Pump();
  bool WriteChunks();
  void HoldOwnChunks();
  void OnChunksWritten(boost::system::error_code error);
  void EndStream();

  Host& host_;
  boost::asio::steady_timer deadline_;
  Sessions::iterator self_{};
  boost::beast::flat_buffer buffer_;
  std::optional<RequestParser> parser_;
  std::array<char, 4096> drain_{};
  std::size_t drained_ = 0;
  std::size_t header_bytes_ = 0;  // of the request that is being read
  std::size_t held_ = 0;          // of its body, so far
  std::size_t held_of_header_ = 0;
  std::chrono::steady_clock::time_point holding_since_{};
  std::size_t held_of_answer_ = 0;
  std::chrono::steady_clock::time_point taken_at_{};
  WriteLimit write_limit_{};
  Peer peer_{};
  // What is being written: a header and its body, or of a response in chunks the line before each
  // chunk and what goes before the first.
  std::vector<std::string> frames_{};
  std::vector<boost::asio::const_buffer> buffers_{};
  // Of a response in chunks.
  std::shared_ptr<BodyStream> stream_body_{};
  std::vector<BodyStream::Chunk> chunks_{};
  std::string websocket_key_{};  // of a request for an upgrade; else empty
  ClientFrames client_frames_{};
  Opcode opcode_ = Opcode::kText;
  std::string pong_{};               // to be sent
  std::atomic<bool> awake_ = false;  // a Wake is on its way
  bool writing_ = false;
  bool body_ended_ = false;
  std::stop_source stop_{std::nostopstate};
  std::uint64_t serial_ = 0;  // of the request that is being answered
  bool waiting_ = false;      // for the handler of that request
  bool keep_alive_ = false;
  bool http10_ = false;
  bool head_ = false;
  bool refused_ = false;
  bool reading_ = false;
  bool answering_ = false;  // writes an answer that is not a stream
  bool admitted_ = false;
  std::string client_{};
  std::optional<std::size_t> own_limit_{};  // of the body of a request to this path
  bool spare_ = false;
  bool ahead_ = false;            // a read into drain_ is under way, whatever it is for
  std::optional<Part> wanted_{};  // what its bytes are waited for
  bool lingering_ = false;
  bool closed_ = false;
};

/// Makes a session over `socket`, with TLS when `tls` is not null.
std::shared_ptr<Session> MakeSession(boost::asio::ip::tcp::socket socket, Host& host,
                                     std::shared_ptr<boost::asio::ssl::context> tls);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_SESSION_H_
