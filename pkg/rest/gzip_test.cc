#include "kubexx/rest/internal/message/gzip.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <random>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/response_stream.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::ClientFor;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::HasSubstr;

std::string Gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Random(std::size_t size) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same bytes each time
  std::string out;
  while (out.size() < size) {
    out += static_cast<char>(random() % 7 + 'a');
  }
  return out;
}

// Decompresses a stream that comes in pieces of `step` bytes.
Result<std::string> Unpack(const std::string& packed, std::size_t step) {
  GzipDecoder decoder;
  std::string out;
  for (std::size_t at = 0; at < packed.size(); at += step) {
    KX_RETURN_IF_ERROR(
        decoder.Feed(packed.substr(at, step), [&out](std::string_view piece) -> Result<void> {
          EXPECT_FALSE(piece.empty());
          out += piece;
          return {};
        }));
  }
  KX_RETURN_IF_ERROR(decoder.Finish());
  return out;
}

TEST(GzipTest, UnpacksMembersInPiecesOfAnySize) {
  const std::string big = Random(300'000);
  const std::string packed = Gzip("one") + Gzip("") + Gzip(big) + Gzip("last");
  for (const std::size_t step :
       {std::size_t{1}, std::size_t{7}, std::size_t{4096}, packed.size()}) {
    const auto out = Unpack(packed, step);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_TRUE(*out == "one" + big + "last") << step;
  }
  EXPECT_EQ(*Unpack("", 1), "");
}

TEST(GzipTest, AMemberIsHandedOverAsSoonAsItIsThere) {
  GzipDecoder decoder;
  std::string out;
  const auto sink = [&out](std::string_view piece) -> Result<void> {
    out += piece;
    return {};
  };
  ASSERT_TRUE(decoder.Feed(Gzip("event 1\n"), sink));
  EXPECT_EQ(out, "event 1\n");
  ASSERT_TRUE(decoder.Feed(Gzip("event 2\n"), sink));
  EXPECT_EQ(out, "event 1\nevent 2\n");
}

TEST(GzipTest, RefusesBadAndShortStreamsAndStopsWithTheSink) {
  const std::string packed = Gzip(Random(10'000));
  for (const std::string& bad :
       {std::string("plain text"), packed.substr(0, packed.size() - 1), packed.substr(0, 5),
        packed + "x", packed.substr(0, 100) + std::string(200, 'z')}) {
    const auto out = Unpack(bad, 16);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().reason, Reason::kMalformed);
  }
  GzipDecoder decoder;
  int pieces = 0;
  const auto full =
      decoder.Feed(Gzip(std::string(1 << 24, 'a')), [&pieces](std::string_view) -> Result<void> {
        ++pieces;
        return Fail(Reason::kInternalError, "full");
      });
  EXPECT_EQ(full.error().message, "full");
  EXPECT_EQ(pieces, 1) << "a bomb is not unpacked further than the sink takes it";
}

// Answers in gzip, whether the client asked for it or not, and puts the request's Accept-Encoding
// in front.
void AnswerPacked(FakeConnection& connection) {
  while (const auto request = connection.ReadRequest()) {
    const auto accept = request->headers.find("accept-encoding");
    connection.Respond(200, "application/json",
                       Gzip(accept == request->headers.end() ? "-" : accept->second) + Gzip("|b"),
                       {{"Content-Encoding", "gzip"}});
  }
}

TEST(GzipTest, DoAndStreamUnpackResponses) {
  FakeServer server(AnswerPacked);
  const auto asking = ClientFor({.host = server.Url(), .disable_compression = false});
  const auto done = asking->Get().AbsPath("/x").Do();
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(done->body, "gzip|b");
  std::string streamed;
  const auto stream =
      asking->Get().AbsPath("/x").Stream([](const auto&) -> Result<void> { return {}; },
                                         [&streamed](std::string_view chunk) -> Result<void> {
                                           streamed += chunk;
                                           return {};
                                         },
                                         {});
  ASSERT_TRUE(stream) << stream.error().ToString();
  EXPECT_EQ(streamed, "gzip|b");
  const auto silent = ClientFor({.host = server.Url()})->Get().AbsPath("/x").Do();
  ASSERT_TRUE(silent) << silent.error().ToString();
  EXPECT_EQ(silent->body, "-|b") << "not asked for by default";
}

/// What a stream that is read without waiting has brought.
struct UnpackedStream {
  std::string body{};
  std::unique_ptr<ResponseStream> stream{};

  /// Reads what is there, until there is nothing more or the end, which it returns.
  Result<StreamRead> ReadAll() {
    for (;;) {
      KX_ASSIGN_OR_RETURN(const StreamRead found,
                          stream->TryRead([this](std::string_view piece) -> Result<void> {
                            EXPECT_FALSE(piece.empty());
                            body += piece;
                            return {};
                          }));
      if (found != StreamRead::kPiece) {
        return found;
      }
    }
  }
};

// As from a server that flushes after each event, and a network that cuts where it likes.
TEST(GzipTest, AStreamThatIsReadWithoutWaitingIsUnpackedAsFarAsItHasCome) {
  const std::string first = Gzip(R"({"type":"ADDED"})");
  const std::string second = Gzip(R"({"type":"DELETED"})");
  std::counting_semaphore<> go(0);
  const FakeServer server([&](FakeConnection& connection) {
    connection.ReadRequest();
    connection.Write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
        "Transfer-Encoding: chunked\r\n\r\n");
    // One chunk ends in the middle of a member, and another holds the ends of both.
    for (const std::string& piece :
         {first.substr(0, 5), first.substr(5) + second.substr(0, second.size() - 4),
          second.substr(second.size() - 4)}) {
      KX_AWAIT(go.try_acquire());
      connection.WriteChunk(piece);
    }
    KX_AWAIT(go.try_acquire());
    connection.EndChunks();
    connection.AwaitPeer();
  });
  const auto client = ClientFor({.host = server.Url(), .disable_compression = false});
  auto opened = client->Get().AbsPath("/x").MaxRetries(0).OpenStream({});
  ASSERT_TRUE(opened) << opened.error().ToString();
  UnpackedStream unpacked{.stream = *std::move(opened)};
  EXPECT_EQ(unpacked.ReadAll().value(), StreamRead::kNothing);
  go.release();
  EXPECT_EQ(unpacked.ReadAll().value(), StreamRead::kNothing);
  EXPECT_EQ(unpacked.body, "") << "of five bytes nothing can be unpacked";
  go.release();
  KX_UNTIL(unpacked.body == R"({"type":"ADDED"}{"type":"DELETED"})") {
    ASSERT_EQ(unpacked.ReadAll().value(), StreamRead::kNothing);
  }
  go.release(2);
  KX_UNTIL(unpacked.ReadAll().value() == StreamRead::kEnd) {
  }
  EXPECT_EQ(unpacked.body, R"({"type":"ADDED"}{"type":"DELETED"})");
}

TEST(GzipTest, AStreamThatIsReadWithoutWaitingFailsWhereItsPackingDoes) {
  const std::string packed = Gzip("event 1\n") + Gzip("event 2\n");
  const FakeServer server([&](FakeConnection& connection) {
    const auto request = connection.ReadRequest();
    connection.Write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
        "Transfer-Encoding: chunked\r\n\r\n");
    connection.WriteChunk(request && request->target == "/bad"
                              ? packed + "neither gzip"
                              : packed.substr(0, packed.size() - 1));
    connection.EndChunks();
    connection.AwaitPeer();
  });
  const auto client = ClientFor({.host = server.Url(), .disable_compression = false});
  for (const char* path : {"/bad", "/short"}) {
    auto opened = client->Get().AbsPath(path).MaxRetries(0).OpenStream({});
    ASSERT_TRUE(opened) << opened.error().ToString();
    UnpackedStream unpacked{.stream = *std::move(opened)};
    Result<StreamRead> last = StreamRead::kNothing;
    KX_UNTIL(!last || *last == StreamRead::kEnd) {
      last = unpacked.ReadAll();
    }
    ASSERT_FALSE(last) << path;
    EXPECT_EQ(last.error().reason, Reason::kMalformed) << path;
    EXPECT_EQ(unpacked.body, "event 1\nevent 2\n") << "what was whole has come before that";
  }
}

TEST(GzipTest, ErrorsAreUnpackedAndBrokenPackingIsAnError) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      const bool bad = request->target == "/bad";
      connection.Respond(bad ? 200 : 404, "text/plain", bad ? "nonsense" : Gzip("no such thing"),
                         {{"Content-Encoding", "gzip"}});
    }
  });
  const auto client = rest::testing::NewClient(server.Url());
  EXPECT_THAT(client->Get().AbsPath("/x").Do().error().message, HasSubstr("no such thing"));
  const auto bad = client->Get().AbsPath("/bad").Do();
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reason, Reason::kMalformed);
}

// Returns eight blocks without bytes, each with code tables of its own, which take the decoder
// longer than they take the network.
std::string BlocksOfNothing() {
  std::string bits;
  const auto put = [&bits](unsigned value, int count) {  // the lowest bit first
    for (int i = 0; i < count; ++i) {
      bits += (value >> i & 1U) != 0 ? '1' : '0';
    }
  };
  for (int block = 0; block < 8; ++block) {
    put(0b100, 3);  // not the last, with tables
    put(0, 10);     // of 257 literals and one distance,
    put(14, 4);     // and 18 lengths of codes:
    for (int i = 0; i < 18; ++i) {
      put(i == 2 || i == 17 ? 1 : 0, 3);  // one bit each for "many zeros" and "one"
    }
    put(1, 1);    // Many zeros,
    put(127, 7);  // 138 of them,
    put(1, 1);    // and more,
    put(107, 7);  // 118: the literals have no code,
    put(0, 2);    // the end and the distance have one.
    put(0, 1);    // The end.
  }
  std::string bytes(bits.size() / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bytes[i / 8] = static_cast<char>(bytes[i / 8] | (bits[i] - '0') << (i % 8));
  }
  return bytes;
}

// The bytes of an error's body are limited after the decompression, and this body decompresses to
// nothing.
TEST(GzipTest, AnErrorThatUnpacksToNothingDoesNotOutliveTheTimeout) {
  // The buffers of a connection, which hold what the client has not read yet, are smaller than
  // this.
  constexpr std::size_t kMoreThanIsUnderWay = 16 << 20;
  std::atomic<bool> body_is_read = false;
  FakeServer server([&](FakeConnection& connection) {
    connection.ReadRequest();
    connection.Write(
        "HTTP/1.1 500 Internal Server Error\r\nContent-Encoding: gzip\r\n"
        "Transfer-Encoding: chunked\r\n\r\n");
    connection.WriteChunk(std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
    const std::string eight = BlocksOfNothing();
    std::string nothing;
    while (nothing.size() < 100 * 1024) {
      nothing += eight;
    }
    for (std::size_t written = 0; connection.WriteChunk(nothing); written += nothing.size()) {
      if (written >= kMoreThanIsUnderWay) {
        body_is_read = true;
      }
    }
  });
  base::testing::FakeClock clock;
  const auto client =
      rest::testing::NewClient(server.Url(), rest::testing::WithoutDeadlines(clock));
  const std::jthread time([&] {
    KX_AWAIT(body_is_read.load());
    clock.Advance(std::chrono::minutes(5));
  });
  const auto result = client->Get().AbsPath("/x").Timeout(std::chrono::minutes(5)).Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, 500) << result.error().ToString();
}

}  // namespace
}  // namespace kubexx::rest::internal
