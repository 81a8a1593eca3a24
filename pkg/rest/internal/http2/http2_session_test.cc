#include "kubexx/rest/internal/http2/http2_session.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/testing/http2_frames.h"

namespace kubexx::rest::internal {
namespace {

using rest::testing::Http2Number;
using rest::testing::kAck;
using rest::testing::kContinuationFrame;
using rest::testing::kDataFrame;
using rest::testing::kEndHeaders;
using rest::testing::kEndStream;
using rest::testing::kGoAwayFrame;
using rest::testing::kHeadersFrame;
using rest::testing::kPingFrame;
using rest::testing::kResetFrame;
using rest::testing::kSettingsFrame;
using rest::testing::kStatus200;
using rest::testing::kWindowUpdateFrame;
using rest::testing::LiteralHeader;
using rest::testing::MakeFrame;
using rest::testing::SettingsWithStreams;
using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using State = Http2Answer::State;

/// Frames of the client, as types, from bytes that end with a frame.
std::vector<int> TypesIn(std::string_view bytes) {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  if (bytes.starts_with(kPreface)) {
    bytes.remove_prefix(kPreface.size());
  }
  std::vector<int> types;
  while (bytes.size() >= 9) {
    std::size_t size = 0;
    for (int i = 0; i < 3; ++i) {
      size = size << 8 | static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(i)]);
    }
    types.push_back(bytes[3]);
    bytes.remove_prefix(9 + size);
  }
  return types;
}

class Http2SessionTest : public ::testing::Test {
 protected:
  Http2SessionTest() { Sent(); }

  std::string Sent() {
    std::string all;
    for (std::string_view some = session_.Output(); !some.empty(); some = session_.Output()) {
      all += some;
    }
    return all;
  }
  void Begin(std::uint32_t streams = 100) {
    // Our own settings count from their acknowledgement on.
    ASSERT_TRUE(
        session_.Receive(SettingsWithStreams(streams) + MakeFrame(kSettingsFrame, kAck, 0)));
    Sent();
  }
  bool Submit(Http2Answer& answer) {
    const HttpRequest request{.method = "GET", .target = "/x", .headers = {{"Accept", "a/b"}}};
    const bool submitted = session_.Submit(request, "host", answer);
    Sent();
    return submitted;
  }
  bool Head(std::uint32_t id, std::uint8_t flags = 0) {
    return session_.Receive(MakeFrame(kHeadersFrame, kEndHeaders | flags, id, kStatus200));
  }
  bool Data(std::uint32_t id, std::string_view bytes, std::uint8_t flags = 0) {
    return session_.Receive(MakeFrame(kDataFrame, flags, id, bytes));
  }

  base::testing::FakeClock clock_;
  Http2Session session_{clock_};
};

TEST_F(Http2SessionTest, AnAnswerIsItsHeadItsBodyAndItsEnd) {
  Begin();
  Http2Answer answer;
  ASSERT_TRUE(Submit(answer));
  EXPECT_EQ(answer.id, 1);
  ASSERT_TRUE(session_.Receive(
      MakeFrame(kHeadersFrame, kEndHeaders, 1,
                std::string(kStatus200) + LiteralHeader("content-type", "text/plain") +
                    LiteralHeader("warning", "one") + LiteralHeader("warning", "two"))));
  EXPECT_TRUE(answer.has_head);
  EXPECT_EQ(answer.head.code, 200);
  EXPECT_EQ(answer.head.content_type, "text/plain");
  EXPECT_EQ(answer.head.warning, "one, two");
  EXPECT_THAT(session_.TakeChanged(), ElementsAre(&answer));
  ASSERT_TRUE(Data(1, "abc"));
  EXPECT_EQ(answer.state, State::kOpen);
  ASSERT_TRUE(Data(1, "def", kEndStream));
  EXPECT_EQ(answer.body, "abcdef");
  EXPECT_EQ(answer.state, State::kEnded);
  EXPECT_TRUE(session_.is_empty());
}

TEST_F(Http2SessionTest, SendsNoHeaderOfTheConnection) {
  Begin();
  Http2Answer answer;
  ASSERT_TRUE(session_.Submit({.method = "GET",
                               .target = "/x",
                               .headers = {{"Connection", "keep-alive"}, {"X-Other", "Value"}}},
                              "host", answer));
  const std::string sent = Sent();
  EXPECT_THAT(TypesIn(sent), ElementsAre(kHeadersFrame));
  ASSERT_TRUE(Head(1, kEndStream)) << "nghttp2 refuses to send a header that is not allowed";
  EXPECT_EQ(answer.state, State::kEnded);
}

TEST_F(Http2SessionTest, HasNoRoomBeforeTheServerHasSaidHowMuch) {
  Http2Answer answer;
  EXPECT_FALSE(session_.has_settings());
  EXPECT_FALSE(Submit(answer));
  Begin();
  EXPECT_TRUE(Submit(answer));
}

TEST_F(Http2SessionTest, OpensNoMoreStreamsThanTheServerAllows) {
  Begin(2);
  Http2Answer first;
  Http2Answer second;
  Http2Answer third;
  ASSERT_TRUE(Submit(first));
  ASSERT_TRUE(Submit(second));
  EXPECT_FALSE(Submit(third));
  ASSERT_TRUE(Head(1, kEndStream));
  EXPECT_TRUE(Submit(third));
  session_.Forget(second);
  EXPECT_TRUE(session_.HasRoom());
}

TEST_F(Http2SessionTest, AFarewellRefusesLaterStreamsAndLetsEarlierOnesGoOn) {
  Begin();
  Http2Answer first;
  Http2Answer second;
  ASSERT_TRUE(Submit(first));
  ASSERT_TRUE(Submit(second));
  ASSERT_TRUE(session_.Receive(MakeFrame(kGoAwayFrame, 0, 0, Http2Number(1) + Http2Number(0))));
  EXPECT_EQ(second.state, State::kRefused);
  EXPECT_EQ(first.state, State::kOpen);
  EXPECT_TRUE(session_.is_closing());
  EXPECT_FALSE(session_.HasRoom());
  EXPECT_FALSE(session_.is_over());
  ASSERT_TRUE(Head(1));
  ASSERT_TRUE(Data(1, "abc", kEndStream));
  EXPECT_EQ(first.state, State::kEnded);
  EXPECT_EQ(first.body, "abc");
  Sent();
  EXPECT_TRUE(session_.is_over());
}

TEST_F(Http2SessionTest, TellsWhyTheServerHasResetAStream) {
  Begin();
  std::vector<Http2Answer> answers(4);
  for (Http2Answer& answer : answers) {
    ASSERT_TRUE(Submit(answer));
  }
  ASSERT_TRUE(Head(7));
  ASSERT_TRUE(Data(7, "abc"));
  constexpr std::uint32_t kInternalError = 2;
  constexpr std::uint32_t kRefusedStream = 7;
  constexpr std::uint32_t kHttp11Required = 13;
  ASSERT_TRUE(session_.Receive(MakeFrame(kResetFrame, 0, 1, Http2Number(kRefusedStream))));
  ASSERT_TRUE(session_.Receive(MakeFrame(kResetFrame, 0, 3, Http2Number(kHttp11Required))));
  ASSERT_TRUE(session_.Receive(MakeFrame(kResetFrame, 0, 5, Http2Number(kInternalError))));
  ASSERT_TRUE(session_.Receive(MakeFrame(kResetFrame, 0, 7, Http2Number(kInternalError))));
  EXPECT_EQ(answers[0].state, State::kRefused);
  EXPECT_EQ(answers[1].state, State::kNeedsHttp1);
  EXPECT_EQ(answers[2].state, State::kFailed);
  EXPECT_EQ(answers[2].failure, "the server ended the stream before a response: INTERNAL_ERROR");
  EXPECT_EQ(answers[3].state, State::kFailed);
  EXPECT_EQ(answers[3].failure,
            "the server ended the stream in the middle of the response: INTERNAL_ERROR");
  EXPECT_EQ(answers[3].body, "abc");
}

TEST_F(Http2SessionTest, AnAnswerThatNobodyTakesIsBoundedAndHoldsUpNoOtherOne) {
  Begin();
  Http2Answer slow;
  Http2Answer other;
  ASSERT_TRUE(Submit(slow));
  ASSERT_TRUE(Submit(other));
  ASSERT_TRUE(Head(1));
  ASSERT_TRUE(Head(3));
  const std::string piece(16 * 1024, 'x');
  // More than the whole connection's window is, for the other one.
  for (std::int32_t sent = 0; sent < Http2Session::kStreamWindow; sent += 16 * 1024) {
    ASSERT_TRUE(Data(1, piece));
  }
  for (int i = 0; i < 1024; ++i) {
    ASSERT_TRUE(Data(3, piece)) << session_.failure();
    session_.Took(other, other.body.size());
    other.body.clear();
    Sent();
  }
  EXPECT_EQ(other.state, State::kOpen);
  EXPECT_EQ(slow.body.size(), static_cast<std::size_t>(Http2Session::kStreamWindow));
  session_.Receive(MakeFrame(kDataFrame, 0, 1, "x"));
  Sent();
  EXPECT_EQ(slow.state, State::kFailed);
  EXPECT_EQ(slow.failure, "the server sends more than it may");
  EXPECT_EQ(slow.body.size(), static_cast<std::size_t>(Http2Session::kStreamWindow));
}

TEST_F(Http2SessionTest, LetsTheServerSendMoreOnlyWhenSomebodyHasTakenWhatCame) {
  Begin();
  Http2Answer answer;
  ASSERT_TRUE(Submit(answer));
  ASSERT_TRUE(Head(1));
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(Data(1, std::string(16 * 1024, 'x')));
  }
  EXPECT_THAT(TypesIn(Sent()), Not(Contains(kWindowUpdateFrame)));
  session_.Took(answer, answer.body.size());
  EXPECT_THAT(TypesIn(Sent()), Contains(kWindowUpdateFrame));
}

TEST_F(Http2SessionTest, AHeadThatIsTooLongFailsItsOwnStream) {
  Begin();
  Http2Answer long_one;
  Http2Answer other;
  ASSERT_TRUE(Submit(long_one));
  ASSERT_TRUE(Submit(other));
  // A header that is put into the table once, and then repeated with a byte each time.
  std::string block(kStatus200);
  block += std::string("\x40\x01") + "x" + "\x7f\xa1\x1e" + std::string(4000, 'v');
  block.append(12'000, static_cast<char>(0x80 | 62));
  ASSERT_TRUE(session_.Receive(MakeFrame(kHeadersFrame, kEndHeaders, 1, block)));
  EXPECT_EQ(long_one.state, State::kFailed);
  EXPECT_THAT(long_one.failure, HasSubstr("larger than 1024 KiB"));
  EXPECT_THAT(TypesIn(Sent()), Contains(kResetFrame));
  ASSERT_TRUE(Head(3, kEndStream));
  EXPECT_EQ(other.state, State::kEnded);
}

TEST_F(Http2SessionTest, GivesUpAHeadThatDoesNotEnd) {
  Begin();
  Http2Answer answer;
  ASSERT_TRUE(Submit(answer));
  ASSERT_TRUE(session_.Receive(MakeFrame(kHeadersFrame, 0, 1, kStatus200)));
  bool goes_on = true;
  for (int i = 0; i < 100'000 && goes_on; ++i) {
    goes_on =
        session_.Receive(MakeFrame(kContinuationFrame, 0, 1)) && (Sent(), !session_.is_over());
  }
  EXPECT_FALSE(goes_on);
}

TEST_F(Http2SessionTest, GivesUpAFrameOfAnUnknownTypeThatDoesNotEnd) {
  Begin();
  bool goes_on = true;
  for (int i = 0; i < 100 && goes_on; ++i) {
    goes_on = session_.Receive(MakeFrame(0xfa, 0, 0, std::string(16 * 1024, 'x')));
  }
  EXPECT_FALSE(goes_on);
  EXPECT_EQ(session_.failure(), "the server sends a frame without an end");
}

struct Flood {
  const char* name;
  std::string frame;
};

class Http2FloodTest : public Http2SessionTest, public ::testing::WithParamInterface<Flood> {};

INSTANTIATE_TEST_SUITE_P(
    Frames, Http2FloodTest,
    ::testing::Values(Flood{"EmptyData", MakeFrame(kDataFrame, 0, 1)},
                      Flood{"Ping", MakeFrame(kPingFrame, 0, 0, std::string(8, 'p'))},
                      Flood{"PingAck", MakeFrame(kPingFrame, kAck, 0, std::string(8, 'p'))},
                      Flood{"Settings", MakeFrame(kSettingsFrame, 0, 0)},
                      Flood{"WindowUpdate", MakeFrame(kWindowUpdateFrame, 0, 0, Http2Number(1))},
                      Flood{"Interim", MakeFrame(kHeadersFrame, kEndHeaders, 1,
                                                 LiteralHeader(":status", "103"))}),
    [](const auto& flood) { return flood.param.name; });

TEST_P(Http2FloodTest, FramesThatBringNothingEndTheStreamOrTheConnection) {
  Begin();
  Http2Answer answer;
  ASSERT_TRUE(Submit(answer));
  if (GetParam().name != std::string_view("Interim")) {
    ASSERT_TRUE(Head(1));
  }
  int frames = 0;
  while (frames <= 2 * Http2Session::kMaxIdleFrames && answer.state == State::kOpen &&
         session_.Receive(GetParam().frame) && !session_.is_over()) {
    Sent();
    ++frames;
  }
  EXPECT_LE(frames, Http2Session::kMaxIdleFrames);
}

TEST_F(Http2SessionTest, AFewOfThemNowAndThenAreNothingUnusual) {
  Begin();
  const std::string ping = MakeFrame(kPingFrame, 0, 0, std::string(8, 'p'));
  for (int i = 0; i < 3 * Http2Session::kMaxIdleFrames; ++i) {
    ASSERT_TRUE(session_.Receive(ping));
    Sent();
    clock_.Advance(milliseconds(100));
  }
}

TEST_F(Http2SessionTest, AsksASilentServerWhetherItIsThere) {
  Begin();
  clock_.Advance(Http2Session::kSilence - milliseconds(1));
  EXPECT_TRUE(session_.CheckHealth());
  EXPECT_EQ(Sent(), "");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(session_.NextCheck(), clock_.Now());
  EXPECT_TRUE(session_.CheckHealth());
  EXPECT_THAT(TypesIn(Sent()), ElementsAre(kPingFrame));
  clock_.Advance(Http2Session::kPingTimeout - milliseconds(1));
  EXPECT_TRUE(session_.CheckHealth());
  ASSERT_TRUE(session_.Receive(MakeFrame(kPingFrame, kAck, 0, std::string(8, '\0'))));
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(session_.CheckHealth()) << "it has answered";
  clock_.Advance(Http2Session::kSilence);
  EXPECT_TRUE(session_.CheckHealth());
  EXPECT_THAT(TypesIn(Sent()), ElementsAre(kPingFrame));
  clock_.Advance(Http2Session::kPingTimeout);
  EXPECT_FALSE(session_.CheckHealth());
}

TEST_F(Http2SessionTest, AnAnswerThatIsNotWantedAnyMoreIsCancelled) {
  Begin();
  auto answer = std::make_unique<Http2Answer>();
  ASSERT_TRUE(Submit(*answer));
  ASSERT_TRUE(Head(1));
  session_.Forget(*answer);
  answer.reset();
  EXPECT_THAT(TypesIn(Sent()), ElementsAre(kResetFrame));
  EXPECT_TRUE(session_.TakeChanged().empty());
  // What was on the way.
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(Data(1, std::string(16 * 1024, 'x')));
  }
  EXPECT_TRUE(session_.HasRoom());
}

TEST_F(Http2SessionTest, AllThatAreOpenAreLostWithTheConnection) {
  Begin();
  Http2Answer first;
  Http2Answer second;
  ASSERT_TRUE(Submit(first));
  ASSERT_TRUE(Submit(second));
  ASSERT_TRUE(Head(1, kEndStream));
  session_.Lose();
  EXPECT_EQ(first.state, State::kEnded);
  EXPECT_EQ(second.state, State::kLost);
  EXPECT_FALSE(session_.HasRoom());
}

TEST_F(Http2SessionTest, WhatIsNotHttp2EndsIt) {
  EXPECT_FALSE(session_.Receive("HTTP/1.1 400 Bad Request\r\n\r\n") &&
               (Sent(), !session_.is_over()));
}

}  // namespace
}  // namespace kubexx::rest::internal
