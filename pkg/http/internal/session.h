/// @file
/// One connection of a server.
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
#include "kubexx/http/server.h"

namespace kubexx::http::internal {

class Session;
using Sessions = std::list<std::shared_ptr<Session>>;

/// What takes long compared to a request: those who shake hands do not wait for those who send or
/// take much.
enum class Dear : std::uint8_t { kHandshake, kPiece };

/// What the sessions need of the server.
class Host {
 public:
  virtual ~Host() = default;
  virtual const Server::Options& options() const = 0;
  /// Whether connections end with their answers.
  virtual bool draining() const = 0;
  /// Calls session->Deliver(serial, ...) on the network thread, at once or later.
  virtual void Serve(std::shared_ptr<Session> session, std::uint64_t serial, Request request) = 0;
  /// Says that sessions have so much more of unfinished bodies, or less. May close sessions, also
  /// the one that says so.
  virtual void Hold(std::ptrdiff_t bytes) = 0;
  /// The same of unfinished headers.
  virtual void HoldHeader(std::ptrdiff_t bytes) = 0;
  /// Says that `session` has so much more of an answer that its client has not taken, or less. May
  /// close other sessions.
  virtual void HoldAnswer(const Session& session, std::ptrdiff_t bytes) = 0;
  /// Says that `session` waits for a request from now on.
  virtual void MoveToBack(Sessions::iterator session) = 0;
  virtual void Remove(Sessions::iterator session) = 0;
  /// Calls `step` of `session` later, in its turn, on the network thread, which calls this. For
  /// steps that take long compared to a request: of many clients that send much, take much or shake
  /// hands a few have their turn at a time, and requests and answers need not wait for all of them.
  virtual void InTurn(Dear what, std::shared_ptr<Session> session, std::function<void()> step) = 0;
  /// Calls session->Wake() on the network thread, in its turn. Any thread may call it.
  virtual void Awake(std::weak_ptr<Session> session) = 0;
};

/// Lives on the server's network thread only. A pending operation holds a reference. What differs
/// with and without TLS is in the classes made by MakeSession.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Done = std::function<void(boost::system::error_code)>;
  using SomeRead = std::function<void(boost::system::error_code, std::size_t)>;

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// `spare`: it is beyond the limit, for those who may be served then; see Host::Serve.
  void Start(Sessions::iterator self, bool spare);

  /// The answer to the request `serial`; dropped when that is no longer waited for, because its
  /// time is over or the connection is closed.
  void Deliver(std::uint64_t serial, Response response);

  /// Waiting for a complete request, that is, worth less than a new connection.
  bool reading() const { return reading_; }
  /// It has nothing of one.
  bool idle() const;
  /// Reading, or it does not take the answer that it got without being admitted.
  bool replaceable() const { return reading_ || (answering_ && !admitted_); }
  /// It has some of a body, but not all.
  std::size_t held_of_body() const { return reading_ ? held_ : 0; }
  /// The same of a header.
  std::size_t held_of_header() const { return reading_ ? held_of_header_ : 0; }
  /// Since when it has some of what it has not all of.
  std::chrono::steady_clock::time_point holding_since() const { return holding_since_; }
  /// Of an answer that is no stream, until the client has taken all of it.
  std::size_t held_of_answer() const { return held_of_answer_; }
  /// When its client has last taken some of the answer.
  std::chrono::steady_clock::time_point taken_at() const { return taken_at_; }
  /// Its last complete header was that of a client to trust.
  bool admitted() const { return admitted_; }
  /// Whose that was, as Server::Options::admit calls it; empty when nobody was let in.
  const std::string& client() const { return client_; }
  bool spare() const { return spare_; }

  void Close();
  /// The same, because something that was done for it has thrown, which is logged.
  void Fail(const std::exception& error);

  /// Sends what the stream has. Of a session that is closed: nothing.
  void Wake();

 protected:
  Session(boost::asio::io_context& context, Host& host) : host_(host), deadline_(context) {}

  Host& host() { return host_; }
  /// Until when what is being written must have been taken.
  std::chrono::steady_clock::time_point write_deadline() const { return write_deadline_; }

  /// `step` of this session, for later: it keeps the session, and what it throws ends it. Without
  /// that a session could stay for ever, since it is in the server's list and other operations
  /// that are under way keep it, too.
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

  /// To be called whenever the client has taken some of what is being written.
  void NoteTaken() { taken_at_ = std::chrono::steady_clock::now(); }

  virtual boost::beast::tcp_stream& tcp() = 0;
  virtual void AsyncHandshake(Done done) = 0;
  virtual void AsyncReadSome(boost::asio::mutable_buffer buffer, SomeRead done) = 0;
  /// Writes all of them; `buffers` lives until `done`.
  virtual void AsyncWrite(const std::vector<boost::asio::const_buffer>& buffers, Done done) = 0;
  /// The same for little, without waiting: what the client does not take yet is kept and is there
  /// for AsyncFlush. False when it cannot be done now: nothing was written.
  virtual bool WriteAtOnce(const std::vector<boost::asio::const_buffer>& buffers,
                           boost::system::error_code& error) = 0;
  virtual bool HasRest() = 0;
  virtual void AsyncFlush(Done done) = 0;
  /// Of the client's certificate.
  virtual Peer PeerOfClient() { return {}; }
  /// Says goodbye.
  virtual void AsyncShutdown(Done done) = 0;

 private:
  enum class Part { kHeader, kRequest };

  // session_read.cc: a request, from its first byte to its last.
  void Read();
  /// Parses what there is, and reads on until that part is complete; then OnHeader or OnRead.
  void ReadUntil(Part part);
  void ReadSome(Part part, std::size_t room);
  void OnSomeRead(Part part, boost::system::error_code error, std::size_t size);
  void OnPart(Part part, boost::system::error_code error);
  /// Says how much there is of what is unfinished; false when that has closed the session.
  bool HoldUnread(Part part);
  /// What there is of the header, or of the body, is no longer unfinished.
  void ReleaseHeader();
  void Release();
  void OnHeader(boost::system::error_code error);
  /// Asks whether to trust the sender of the header.
  void Admit();
  /// Tells a client that waits for it that its body will be read, and reads it.
  void ReadBody();
  void OnRead(boost::system::error_code error);
  /// Whether the read has failed; then the client has been told.
  bool ReadFailed(boost::system::error_code error);
  std::chrono::milliseconds TimeToRead() const;

  /// Somebody was asked, and has let the client in.
  bool trusted() const { return admitted_ && host_.options().admit != nullptr; }
  void Respond();
  void OnDeadline();
  void Refuse(int status, std::string text);
  void Write(Response response, bool keep_alive, bool head);
  void OnWritten(boost::system::error_code error, bool keep_alive);
  /// What there is of the answer is no longer waiting.
  void ReleaseAnswer();
  void CloseAfter(std::chrono::milliseconds time);

  // session_end.cc: the end of a connection whose client may still be sending.
  /// Tells the client that there is no more, and lingers.
  void EndQuietly();
  /// Closes when the client has, or after a while: what it has sent and nobody has read would make
  /// the system reset the connection, and the client might lose the answer.
  void Linger();
  void Drain();

  // session_ahead.cc: reading while a request is answered.
  void ReadAhead();
  void OnReadAhead(boost::system::error_code error, std::size_t size);
  /// Lets the read that is under way go on with `part`.
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
  std::chrono::steady_clock::time_point write_deadline_{};
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
  bool answering_ = false;  // writes an answer that is no stream
  bool admitted_ = false;
  std::string client_{};
  bool spare_ = false;
  bool ahead_ = false;            // a read into drain_ is under way, whatever it is for
  std::optional<Part> wanted_{};  // what its bytes are waited for
  bool lingering_ = false;
  bool closed_ = false;
};

/// A session over `socket`; with TLS when `tls` is not null.
std::shared_ptr<Session> MakeSession(boost::asio::ip::tcp::socket socket, Host& host,
                                     std::shared_ptr<boost::asio::ssl::context> tls);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_SESSION_H_
