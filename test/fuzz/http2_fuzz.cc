// What servers send to streams of pkg/rest that share a connection: frames of HTTP/2.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/internal/http2/http2_session.h"

namespace kubexx {
namespace {

using rest::internal::Http2Answer;
using rest::internal::Http2Session;

/// Time does not go on, so that the same bytes do the same.
class StillClock final : public base::Clock {
 public:
  base::TimePoint Now() const override { return {}; }
  base::WallTime Wall() const override { return {}; }
  base::Wake WaitUntil(base::Mutex&, base::CondVar&, const std::stop_token&,
                       base::TimePoint) override {
    return base::Wake::kTimeout;
  }
};

// SETTINGS without a setting, which every server sends first.
constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);

class Client {
 public:
  /// With `takes`, somebody takes what comes, and the output is sent, after each piece.
  explicit Client(bool takes) : takes_(takes) {
    Send();
    session_.Receive(kSettings);
    Send();
    for (Http2Answer& answer : answers_) {
      fuzz::Require(session_.Submit({.method = "GET", .target = "/x"}, "host", answer));
    }
    Send();
  }

  bool Feed(std::string_view bytes) {
    const bool goes_on = session_.Receive(bytes);
    fuzz::Require(goes_on == session_.failure().empty());
    for (Http2Answer* const answer : session_.TakeChanged()) {
      fuzz::Require(answer->state != Http2Answer::State::kEnded || answer->has_head);
      fuzz::Require(!answer->has_head || answer->head.code >= 200);
      fuzz::Require(answer->body.size() <= static_cast<std::size_t>(Http2Session::kStreamWindow));
      if (takes_) {
        session_.Took(*answer, answer->body.size());
        taken_ += answer->body;
        answer->body.clear();
      }
    }
    if (takes_) {
      Send();
      // Now and then somebody has enough of an answer.
      if (taken_.size() > 1000) {
        session_.Forget(answers_[0]);
      }
    }
    return goes_on && !session_.is_over();
  }

  void Send() {
    while (!session_.Output().empty()) {
    }
  }
  void Lose() {
    session_.Lose();
    for (const Http2Answer& answer : answers_) {
      fuzz::Require(takes_ || answer.state != Http2Answer::State::kOpen);
    }
  }
  bool is_alive() const { return !session_.is_over(); }
  const std::array<Http2Answer, 3>& answers() const { return answers_; }

 private:
  const bool takes_;
  StillClock clock_;
  Http2Session session_{clock_};
  std::array<Http2Answer, 3> answers_;
  std::string taken_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  Client taking(true);
  fuzz::InChunks(input, [&](std::string_view chunk) { return taking.Feed(chunk); });
  taking.Lose();
  Client in_pieces(false);
  fuzz::InChunks(input, [&](std::string_view chunk) { return in_pieces.Feed(chunk); });
  input.TakeByte();  // the size of the pieces
  Client at_once(false);
  if (!input.rest().empty()) {
    at_once.Feed(input.rest());
  }
  in_pieces.Send();
  at_once.Send();
  // An error of the connection may be noticed a piece sooner or later.
  const bool is_alive = in_pieces.is_alive() && at_once.is_alive();
  for (std::size_t i = 0; i < at_once.answers().size(); ++i) {
    const Http2Answer& one = in_pieces.answers()[i];
    const Http2Answer& other = at_once.answers()[i];
    fuzz::Require(one.body.starts_with(other.body) || other.body.starts_with(one.body));
    fuzz::Require(!is_alive || (one.state == other.state && one.has_head == other.has_head &&
                                one.head.code == other.head.code && one.body == other.body &&
                                one.failure == other.failure));
  }
  in_pieces.Lose();
  at_once.Lose();
  return 0;
}

}  // namespace kubexx
