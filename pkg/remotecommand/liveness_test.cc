#include "kubexx/remotecommand/internal/liveness.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace kubexx::remotecommand::internal {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Liveness::Limits kLimits{.silence = seconds(61), .write = seconds(60)};
const base::TimePoint kBegin = base::TimePoint() + std::chrono::hours(1);

std::string WhyAt(Liveness& liveness, base::TimePoint now, const TcpState& state = {}) {
  const char* why = liveness.WhyGivenUp(now, state);
  return why == nullptr ? "" : why;
}

TEST(LivenessTest, AServerThatIsSilentIsGivenUp) {
  for (const HeldUpInput held_up : {HeldUpInput::kFails, HeldUpInput::kWaits}) {
    Liveness liveness(kLimits, held_up, kBegin);
    liveness.BeginRead(kBegin);
    EXPECT_EQ(WhyAt(liveness, kBegin + seconds(61)), "");
    liveness.Heard(kBegin + seconds(30));
    EXPECT_EQ(WhyAt(liveness, kBegin + seconds(91)), "");
    EXPECT_EQ(WhyAt(liveness, kBegin + seconds(92)), "the server does not answer pings");
  }
}

TEST(LivenessTest, TheTimeInWhichNothingIsReadDoesNotCount) {
  Liveness liveness(kLimits, HeldUpInput::kFails, kBegin);
  liveness.BeginRead(kBegin);
  liveness.BeginWrite(kBegin);
  liveness.EndRead();
  EXPECT_EQ(WhyAt(liveness, kBegin + minutes(5), {.waiting = 9}), "");
  liveness.BeginRead(kBegin + minutes(10));
  EXPECT_EQ(WhyAt(liveness, kBegin + minutes(10) + seconds(1), {.waiting = 9}), "");
  EXPECT_EQ(WhyAt(liveness, kBegin + minutes(11) + seconds(1), {.waiting = 9}),
            "the server accepts no more input");
}

TEST(LivenessTest, AServerThatTakesAMessageSlowlyTakesIt) {
  Liveness liveness({.silence = minutes(10), .write = seconds(60)}, HeldUpInput::kFails, kBegin);
  liveness.BeginRead(kBegin);
  liveness.BeginWrite(kBegin);
  int waiting = 32 << 10;
  base::TimePoint now = kBegin;
  for (; waiting > 30 << 10; waiting -= 500) {
    now += seconds(40);
    EXPECT_EQ(WhyAt(liveness, now, {.waiting = waiting}), "");
  }
  now += seconds(1);
  EXPECT_EQ(WhyAt(liveness, now, {.waiting = waiting}), "");
  EXPECT_EQ(WhyAt(liveness, now + seconds(61), {.waiting = waiting}),
            "the server accepts no more input");
  liveness.EndWrite();
  EXPECT_EQ(WhyAt(liveness, now + seconds(62), {.waiting = waiting}), "");
}

TEST(LivenessTest, WhereInputMayWaitTheServersSystemDecides) {
  Liveness liveness(kLimits, HeldUpInput::kWaits, kBegin);
  liveness.BeginRead(kBegin);
  liveness.BeginWrite(kBegin);
  const base::TimePoint late = kBegin + minutes(10);
  EXPECT_EQ(WhyAt(liveness, late), "");
  // All is written, but the pong that says so is not of this time.
  liveness.EndWrite();
  liveness.OnPong("0");
  EXPECT_EQ(WhyAt(liveness, late), "");
  EXPECT_EQ(WhyAt(liveness, late, {.tries_in_vain = 1, .since_answer = minutes(2)}), "")
      << "the pauses between tries are that long";
  EXPECT_EQ(WhyAt(liveness, late, {.tries_in_vain = 2, .since_answer = seconds(61)}), "");
  EXPECT_EQ(WhyAt(liveness, late, {.tries_in_vain = 2, .since_answer = seconds(62)}),
            "the server's machine does not answer");
  liveness.OnPong(liveness.PingText());
  EXPECT_EQ(WhyAt(liveness, late), "the server does not answer pings");
}

TEST(LivenessTest, ALimitMayBeNone) {
  Liveness liveness(
      {.silence = std::chrono::milliseconds::max(), .write = std::chrono::milliseconds::max()},
      HeldUpInput::kFails, kBegin);
  liveness.BeginRead(kBegin);
  liveness.BeginWrite(kBegin);
  EXPECT_EQ(WhyAt(liveness, kBegin + std::chrono::hours(100)), "");
}

TEST(LivenessTest, PongsOfNothingConfirmNothing) {
  Liveness liveness(kLimits, HeldUpInput::kWaits, kBegin);
  liveness.BeginRead(kBegin);
  liveness.BeginWrite(kBegin);
  for (const char* text : {"", "-1", "x", "1", "18446744073709551615", "99999999999999999999"}) {
    liveness.OnPong(text);
    EXPECT_EQ(WhyAt(liveness, kBegin + minutes(10)), "") << text;
  }
}

}  // namespace
}  // namespace kubexx::remotecommand::internal
