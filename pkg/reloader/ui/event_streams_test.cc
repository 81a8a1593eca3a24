#include "kubexx/reloader/ui/event_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EventStreamsTest : public ::testing::Test {
 protected:
  /// Opens a stream and starts it as a server does.
  std::shared_ptr<http::BodyStream> Open(std::string_view last_event_id = "",
                                         const std::string& client = "ann") {
    auto stream = streams_.Open(client, last_event_id);
    if (stream != nullptr) {
      stream->Start([this] { ++wakes_; });
    }
    return stream;
  }
  static std::vector<std::string> Take(http::BodyStream& stream) {
    std::vector<http::BodyStream::Chunk> chunks;
    EXPECT_TRUE(stream.Take(chunks));
    std::vector<std::string> texts;
    for (const auto& chunk : chunks) {
      texts.push_back(*chunk);
    }
    return texts;
  }

  int wakes_ = 0;
  StateFeed feed_{{.name = "s", .on_change = [this] { streams_.Wake(); }}};
  EventStreams streams_{feed_, 2};
};

TEST_F(EventStreamsTest, AStreamBeginsWithEverythingAndGoesOnWithChanges) {
  feed_.Apply({{"a", "1"}});
  const auto stream = Open();
  EXPECT_EQ(wakes_, 1);
  EXPECT_THAT(Take(*stream), ElementsAre(HasSubstr(R"("reset":true,"set":{"a":1})")));
  EXPECT_THAT(Take(*stream), IsEmpty());
  feed_.Apply({{"b", "2"}});
  EXPECT_EQ(wakes_, 2);
  EXPECT_THAT(Take(*stream), ElementsAre(HasSubstr(R"("reset":false,"set":{"b":2})")));
}

TEST_F(EventStreamsTest, ASlowClientGetsOneEventWithTheNewestState) {
  feed_.Apply({{"a", "1"}});
  const auto stream = Open();
  Take(*stream);
  for (int i = 2; i <= 1000; ++i) {
    feed_.Apply({{"a", std::to_string(i)}});
  }
  EXPECT_THAT(Take(*stream), ElementsAre(HasSubstr(R"("set":{"a":1000})")));
}

TEST_F(EventStreamsTest, AClientThatComesBackGetsWhatItHasMissed) {
  feed_.Apply({{"a", "1"}, {"b", "1"}});
  feed_.Apply({{"b", "2"}});
  const auto stream = Open("s-1");
  EXPECT_THAT(Take(*stream), ElementsAre(HasSubstr(R"("reset":false,"set":{"b":2})")));
  const auto stranger = Open("other-1");
  EXPECT_THAT(Take(*stranger), ElementsAre(HasSubstr(R"("reset":true)")));
}

TEST_F(EventStreamsTest, ABeatIsACommentWhereThereIsNoNews) {
  feed_.Apply({{"a", "1"}});
  const auto stream = Open();
  Take(*stream);
  streams_.Beat();
  EXPECT_THAT(Take(*stream), ElementsAre(":\n\n"));
  EXPECT_THAT(Take(*stream), IsEmpty());
}

TEST_F(EventStreamsTest, AnOldOneEndsAndAsksForTheNext) {
  base::testing::FakeClock clock;
  EventStreams streams(feed_, 2, clock);
  feed_.Apply({{"a", "1"}});
  const auto old = streams.Open("ann", "", std::chrono::minutes(2));
  const auto for_ever = streams.Open("ann", "");
  old->Start([] {});
  for_ever->Start([] {});
  clock.Advance(std::chrono::seconds(119));
  EXPECT_THAT(Take(*old), ElementsAre(HasSubstr(R"("a":1)")));
  clock.Advance(std::chrono::seconds(1));
  feed_.Apply({{"a", "2"}});
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_FALSE(old->Take(chunks));
  ASSERT_EQ(chunks.size(), 2) << "what is new comes first";
  EXPECT_THAT(*chunks[0], HasSubstr(R"("a":2)"));
  EXPECT_EQ(*chunks[1], "event: again\ndata: \n\n");
  EXPECT_THAT(Take(*for_ever), ElementsAre(HasSubstr(R"("a":2)")));
}

TEST_F(EventStreamsTest, ThereAreOnlySoManyAndAClosedOneMakesPlace) {
  const auto first = Open();
  auto second = Open();
  EXPECT_EQ(Open(), nullptr);
  first->Closed();
  EXPECT_EQ(streams_.open(), 1);
  const auto third = Open();
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(Open(), nullptr);
  // A stream that the server never starts keeps no place either.
  second.reset();
  EXPECT_EQ(streams_.open(), 1);
}

TEST_F(EventStreamsTest, WhoHasMostGivesOneAwayToWhoHasNone) {
  feed_.Apply({{"a", "1"}});
  const auto first = Open("", "bob");
  const auto second = Open("", "bob");
  Take(*first);
  const int before = wakes_;
  const auto ann = Open("", "ann");
  ASSERT_NE(ann, nullptr);
  EXPECT_EQ(wakes_, before + 2) << "the oldest is woken, too";
  EXPECT_EQ(streams_.open(), 2);
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_FALSE(first->Take(chunks));
  ASSERT_EQ(chunks.size(), 1);
  EXPECT_EQ(*chunks[0], "event: again\ndata: \n\n");
  first->Closed();
  EXPECT_THAT(Take(*second), ElementsAre(HasSubstr(R"("a":1)")));
  EXPECT_THAT(Take(*ann), ElementsAre(HasSubstr(R"("a":1)")));
  EXPECT_EQ(streams_.open(), 2);
}

TEST_F(EventStreamsTest, NobodyGetsAPlaceOfWhoHasAsFew) {
  const auto bob = Open("", "bob");
  const auto ann = Open("", "ann");
  EXPECT_EQ(Open("", "bob"), nullptr);
  EXPECT_EQ(Open("", "eve"), nullptr) << "there is one for each of two";
  EventStreams four(feed_, 4);
  std::vector<std::shared_ptr<http::BodyStream>> open;
  for (const char* client : {"bob", "bob", "bob", "ann"}) {
    open.push_back(four.Open(client, ""));
  }
  open.push_back(four.Open("ann", ""));
  EXPECT_NE(open.back(), nullptr) << "two and two";
  EXPECT_EQ(four.Open("bob", ""), nullptr);
  EXPECT_EQ(four.Open("ann", ""), nullptr);
  open.push_back(four.Open("eve", ""));
  EXPECT_NE(open.back(), nullptr);
  EXPECT_EQ(four.open(), 4);
}

TEST_F(EventStreamsTest, AStreamThatHasLostItsPlaceBeforeItsStartEnds) {
  const auto lost = streams_.Open("bob", "");
  const auto kept = Open("", "bob");
  const auto ann = Open("", "ann");
  int wakes = 0;
  lost->Start([&] { ++wakes; });
  EXPECT_EQ(wakes, 1);
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_FALSE(lost->Take(chunks));
  lost->Closed();
  EXPECT_EQ(streams_.open(), 2);
}

TEST_F(EventStreamsTest, AClosedStreamIsNotWoken) {
  const auto stream = Open();
  stream->Closed();
  const int before = wakes_;
  feed_.Apply({{"a", "1"}});
  EXPECT_EQ(wakes_, before);
}

}  // namespace
}  // namespace kubexx::reloader
