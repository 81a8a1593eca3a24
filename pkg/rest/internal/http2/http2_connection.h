/// @file
/// Http2Connection: one connection that many answers share.
#ifndef KUBEXX_REST_INTERNAL_HTTP2_HTTP2_CONNECTION_H_
#define KUBEXX_REST_INTERNAL_HTTP2_HTTP2_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/internal/http2/http2_session.h"
#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/poller.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// An answer, and who waits for it. Belongs to whoever has asked; all of it is guarded by the
/// connection's lock from Open to Leave.
struct Http2Stream : Http2Answer {
  base::CondVar changed{};
  std::function<void()> tell{};
  bool is_armed = false;  ///< `tell` is to be called
};

/// A connection on which a server speaks HTTP/2. The poller's thread reads and decrypts what comes,
/// because nobody else can be relied on to do it for all: whoever has asked for one answer may be
/// slow. It puts the bytes of each answer aside, within bounds, and tells their reader.
/// Thread-safe. The lock is what owns the connection: nobody waits for anything while they hold it,
/// and `tell` is called with it held.
class Http2Connection {
 public:
  /// Takes a connection whose handshake has chosen HTTP/2, and waits until the server has said
  /// what it allows. `clock` must outlive it.
  static std::expected<std::shared_ptr<Http2Connection>, Trouble> Begin(
      std::unique_ptr<Connection> connection, std::shared_ptr<Poller> poller,
      const Waiting& waiting);

  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;
  ~Http2Connection();

  /// Sends a GET. False when the connection takes no other one at present: nothing has happened
  /// then.
  bool Open(const HttpRequest& request, const std::string& authority, Http2Stream& stream);
  /// Ends `stream`, which is not referred to any more. Once for each Open that was true.
  void Leave(Http2Stream& stream);

  /// Waits until the head has come, or none will: then Http2Answer::State is something else than
  /// kOpen and kEnded.
  std::expected<Http2Answer::State, Trouble> AwaitHead(Http2Stream& stream, const Waiting& waiting);

  /// Takes what has come of the body. With an empty `piece` the state is what there is to know.
  Http2Answer::State Take(Http2Stream& stream, std::string& piece);
  /// See Http2Session.
  void Took(Http2Stream& stream, std::size_t bytes);
  /// Waits until something has come, or the stream has ended. kNotified may be spurious.
  base::Wake Wait(Http2Stream& stream, const std::stop_token& stop, base::TimePoint deadline);

  /// See RoundTrip.
  void Notify(Http2Stream& stream, std::function<void()> tell);
  base::TimePoint Arm(Http2Stream& stream);

  /// Whether it takes no other request any more.
  bool is_closing() const;
  /// Has it take no other request if nobody uses it. Returns whether that is so.
  bool CloseIfUnused();
  /// Why it was lost: see Connection.
  std::string failure() const;

 private:
  Http2Connection(std::unique_ptr<Connection> connection, base::Clock& clock);

  /// Reads and writes as much as there is, and tells those of whom something has come.
  void PumpLocked() KX_REQUIRES(mu_);
  void ReadLocked() KX_REQUIRES(mu_);
  void WriteLocked() KX_REQUIRES(mu_);
  /// The poller reports once for each time.
  void ArmLocked() KX_REQUIRES(mu_);
  void TellLocked() KX_REQUIRES(mu_);
  void LoseLocked(std::string why, bool tls) KX_REQUIRES(mu_);
  /// Sees to the health check, and to a socket of which the poller cannot be told.
  void LookLocked() KX_REQUIRES(mu_);
  base::TimePoint NextLookLocked() const KX_REQUIRES(mu_);
  void TellKeepersLocked() KX_REQUIRES(mu_);
  static void TellOne(Http2Stream& stream);

  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::unique_ptr<Connection> connection_ KX_GUARDED_BY(mu_);  ///< null when it is lost
  Http2Session session_ KX_GUARDED_BY(mu_);
  std::string_view unsent_ KX_GUARDED_BY(mu_);  ///< of the session's output
  bool closed_ KX_GUARDED_BY(mu_) = false;
  bool is_deaf_ KX_GUARDED_BY(mu_) = false;  ///< the poller could not be asked
  bool secret_ KX_GUARDED_BY(mu_) = false;   ///< Secrets have come
  std::string failure_ KX_GUARDED_BY(mu_);
  bool tls_failed_ KX_GUARDED_BY(mu_) = false;
  base::CondVar begun_;
  /// Set once, before anybody else knows of the connection. Last, so that its thread is done with
  /// the rest before that is gone.
  std::optional<Poller::Job> job_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_HTTP2_HTTP2_CONNECTION_H_
