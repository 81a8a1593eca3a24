/// @file
/// Http2Session: the frames of one HTTP/2 connection, without the connection.
#ifndef KUBEXX_REST_INTERNAL_HTTP2_HTTP2_SESSION_H_
#define KUBEXX_REST_INTERNAL_HTTP2_HTTP2_SESSION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// What has come of the answer to one request. Belongs to whoever has asked. A session refers to it
/// until it is not kOpen any more, or is forgotten.
struct Http2Answer {
  enum class State : std::uint8_t {
    kOpen,
    kEnded,       ///< as a whole
    kRefused,     ///< the server has done nothing with the request, which can be sent again
    kNeedsHttp1,  ///< so the server says
    kFailed,      ///< see failure
    kLost,        ///< with the connection
  };

  bool secret = false;  ///< set by the owner: the body is overwritten when it has been used
  State state = State::kOpen;
  HttpHead head{};
  bool has_head = false;
  std::string body{};     ///< as far as it has come and nobody has taken it
  std::string failure{};  ///< of kFailed: a sentence without its end

  // For the session.
  std::int32_t id = 0;
  std::size_t head_bytes = 0;
  int interim = 0;
  bool is_listed = false;  ///< in Http2Session::TakeChanged
};

/// The client's side of a connection: the server's bytes go in, and ours come out. Its memory is
/// bounded: each answer keeps at most kStreamWindow bytes that nobody has taken, and a server that
/// sends heads without an end, or many frames that bring nothing, is given up. Not thread-safe, and
/// does no I/O. Semantics: RFC 9113; times of the health check: client-go.
class Http2Session {
 public:
  /// What the server may send of one answer before somebody has taken it.
  static constexpr std::int32_t kStreamWindow = 128 * 1024;
  /// What a head may have, as with HTTP/1.1, and how many interim ones there may be before it.
  static constexpr std::size_t kMaxHead = 1 << 20;
  static constexpr int kMaxInterim = 20;
  /// How many answers are open at once, if the server allows as many.
  static constexpr std::size_t kMaxStreams = 1000;
  /// Frames that bring nothing: how many may come together, and how many a second after that.
  static constexpr int kMaxIdleFrames = 1000;
  static constexpr double kIdleFramesPerSecond = 10;

  /// The server is asked whether it is there after so long a silence, and given up so long after.
  static constexpr base::Duration kSilence = std::chrono::seconds(30);
  static constexpr base::Duration kPingTimeout = std::chrono::seconds(15);

  /// `clock` must outlive it.
  explicit Http2Session(base::Clock& clock);
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;
  ~Http2Session();

  /// Whether the server has said how many streams it allows.
  bool has_settings() const { return has_settings_; }
  /// Whether another request may be sent now.
  bool HasRoom() const;
  /// Whether none ever will be.
  bool is_closing() const { return is_closing_; }
  bool is_empty() const { return answers_.empty(); }

  /// Sends a GET. False when there is no room for it; `answer` is then untouched.
  bool Submit(const HttpRequest& request, const std::string& authority, Http2Answer& answer);
  /// Whoever has taken `bytes` of the body says so, and the server may send as many more.
  void Took(const Http2Answer& answer, std::size_t bytes);
  /// The answer is not wanted any more, and is not referred to again.
  void Forget(Http2Answer& answer);

  /// Takes what the server has sent. False when the connection is of no use any more: failure().
  bool Receive(std::string_view bytes);
  /// The next bytes to send; empty when there are none. Valid until the next call of it.
  std::string_view Output();
  /// Whether nothing is left to be sent or received after a server's farewell, or an error.
  bool is_over() const;
  /// All answers that are open are lost. Nothing else may be called afterwards but TakeChanged,
  /// Took and Forget.
  void Lose();

  /// The answers of which something has come since the last call.
  std::vector<Http2Answer*> TakeChanged();
  /// Whether this is one of the first, whose owners see to the health check.
  bool IsKeeper(const Http2Answer& answer) const;
  /// Of these at least one looks at the clock.
  std::vector<Http2Answer*> Keepers() const;

  /// When CheckHealth has to be called next.
  base::TimePoint NextCheck() const;
  /// Asks a silent server whether it is there. False when it has not answered in time.
  bool CheckHealth();

  /// Why the session failed.
  const std::string& failure() const { return failure_; }
  /// What was wrong with the last frame that was not as it has to be.
  const std::string& last_error() const { return last_error_; }

 private:
  class Callbacks;
  struct Library;

  void Fail(std::string why);
  void Changed(Http2Answer& answer);
  void End(Http2Answer& answer, Http2Answer::State state, std::string failure = {});
  Http2Answer* Find(std::int32_t id) const;
  void Reset(std::int32_t id);
  void CountIdleFrame();

  base::Clock& clock_;
  std::unique_ptr<Library> library_;
  std::map<std::int32_t, Http2Answer*> answers_;
  std::vector<Http2Answer*> changed_;
  bool has_settings_ = false;
  bool is_closing_ = false;
  std::string failure_;
  std::string last_error_;  ///< of a frame that was not as it has to be
  /// Bytes since a frame has ended; those that nobody wants any more are not counted.
  std::int64_t unfinished_ = 0;
  base::TokenBucket idle_frames_;
  base::TimePoint heard_;
  bool asked_ = false;  ///< with a PING that has not been answered
  base::TimePoint asked_at_{};
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_HTTP2_HTTP2_SESSION_H_
