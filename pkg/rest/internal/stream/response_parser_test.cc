#include "kubexx/rest/internal/stream/response_parser.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::rest::internal {
namespace {

using Error = ResponseParser::Error;

// The result of parsing a connection's bytes that come in pieces.
struct Parsed {
  Error error = Error::kNone;
  bool has_head = false;
  HttpHead head{};
  std::string reason{};
  std::string body{};
  std::string rest{};  // the bytes after the response
  bool ended = false;
  bool keeps_alive = false;
};

Parsed Parse(std::string_view bytes, const std::vector<std::size_t>& cuts, bool close = false,
             ResponseParser::Body kind = ResponseParser::Body::kUsual) {
  ResponseParser parser(kind);
  Parsed out;
  std::size_t begin = 0;
  std::vector<std::size_t> ends = cuts;
  ends.push_back(bytes.size());
  for (const std::size_t end : ends) {
    std::string piece(bytes.substr(begin, end - begin));
    begin = end;
    const std::size_t of_head = parser.has_head() ? 0 : parser.TakeHead(piece);
    piece.erase(0, of_head);
    out.has_head = out.has_head || parser.has_head();
    if (parser.has_head()) {
      const auto taken = parser.TakeBody(piece.data(), piece.size());
      EXPECT_LE(taken.payload, taken.consumed);
      EXPECT_LE(taken.consumed, piece.size());
      out.body += piece.substr(0, taken.payload);
      out.rest += piece.substr(taken.consumed);
    }
    if (parser.error() != Error::kNone) {
      break;
    }
  }
  out.error = parser.error();
  if (close && out.error == Error::kNone) {
    parser.TakeEnd();
  }
  if (out.has_head) {
    out.head = parser.head();
    out.reason = parser.reason();
  }
  out.ended = parser.ended();
  out.keeps_alive = parser.keeps_alive();
  return out;
}

std::vector<std::size_t> EachByte(std::string_view bytes) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    cuts.push_back(i);
  }
  return cuts;
}

constexpr std::string_view kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(ResponseParserTest, ReadsWhatTheClientNeedsOfTheHead) {
  const Parsed parsed = Parse(
      "HTTP/1.1 429 Too Many Requests\r\nContent-Type:application/json\r\nRETRY-AFTER: 1 \r\n"
      "Warning: 299 - \"one\"\r\nWarning: 299 - \"two\"\r\nContent-Encoding: gzip\r\n"
      "Content-Length: 2\r\nX: y\r\n\r\n{}",
      {});
  EXPECT_EQ(parsed.error, Error::kNone);
  EXPECT_EQ(parsed.head.code, 429);
  EXPECT_EQ(parsed.reason, "Too Many Requests");
  EXPECT_EQ(parsed.head.content_type, "application/json");
  EXPECT_EQ(parsed.head.retry_after, "1");
  EXPECT_EQ(parsed.head.warning, "299 - \"one\", 299 - \"two\"");
  EXPECT_EQ(parsed.head.content_encoding, "gzip");
  EXPECT_EQ(parsed.body, "{}");
  EXPECT_TRUE(parsed.ended);
  EXPECT_TRUE(parsed.keeps_alive);
}

struct GoodCase {
  std::string name;
  std::string bytes;
  std::string body;
  bool keeps_alive = true;
  std::string rest{};
  bool close = false;
};

class GoodResponseTest : public ::testing::TestWithParam<GoodCase> {
 protected:
  void Check(const std::vector<std::size_t>& cuts) {
    const GoodCase& good = GetParam();
    const Parsed parsed = Parse(good.bytes, cuts, good.close);
    EXPECT_EQ(parsed.error, Error::kNone);
    EXPECT_EQ(parsed.head.code, 200);
    EXPECT_EQ(parsed.body, good.body);
    EXPECT_TRUE(parsed.ended);
    EXPECT_EQ(parsed.rest, good.rest);
    EXPECT_EQ(parsed.keeps_alive, good.keeps_alive);
  }
};

TEST_P(GoodResponseTest, WholeByteByByteAndCutAtEachByte) {
  Check({});
  Check(EachByte(GetParam().bytes));
  for (std::size_t cut = 1; cut < GetParam().bytes.size(); ++cut) {
    Check({cut});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, GoodResponseTest,
    ::testing::Values(
        GoodCase{"Counted", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
        GoodCase{"Empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
        GoodCase{"WithoutReason", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", "x"},
        GoodCase{"LineFeedsAlone", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "x"},
        GoodCase{"Chunked", std::string(kChunkedHead) + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
                 "hello world"},
        GoodCase{"ChunkExtensions",
                 std::string(kChunkedHead) +
                     "5;a=b\r\nhello\r\n6 ; x=\"y;z\"\r\n world\r\n00;end\r\n\r\n",
                 "hello world"},
        GoodCase{"Trailers", std::string(kChunkedHead) + "5\r\nhello\r\n0\r\nX: y\r\nZ: \r\n\r\n",
                 "hello"},
        GoodCase{"ZerosInFrontOfASize",
                 std::string(kChunkedHead) + "0000000000000005\r\nhello\r\n0\r\n\r\n", "hello"},
        GoodCase{"MoreBehindIt", std::string(kChunkedHead) + "1\r\nx\r\n0\r\n\r\nHTTP/1.1 200", "x",
                 true, "HTTP/1.1 200"},
        GoodCase{"InterimAnswers",
                 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n"
                 "Content-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                 "x"},
        GoodCase{"UntilTheEnd", "HTTP/1.1 200 OK\r\n\r\nall of it", "all of it", false, "", true},
        GoodCase{"ToBeClosed", "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx",
                 "x", false},
        GoodCase{"OldVersion", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", false},
        GoodCase{"OldVersionKeptAlive",
                 "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", "x"},
        GoodCase{"TwoLengthsThatAgree",
                 "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "x"},
        GoodCase{"ChunksWinOverALength",
                 "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "1\r\nx\r\n0\r\n\r\n",
                 "x", false},
        GoodCase{"ALengthAfterChunks",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 99\r\n\r\n"
                 "1\r\nx\r\n0\r\n\r\n",
                 "x", false}),
    [](const auto& good) { return good.param.name; });

struct BadCase {
  std::string name;
  std::string bytes;
  Error error;
  std::string body{};
};

class BadResponseTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadResponseTest, IsRefusedWholeAndByteByByte) {
  const BadCase& bad = GetParam();
  for (const auto& cuts : {std::vector<std::size_t>(), EachByte(bad.bytes)}) {
    const Parsed parsed = Parse(bad.bytes, cuts);
    EXPECT_EQ(parsed.error, bad.error);
    EXPECT_FALSE(parsed.ended);
    EXPECT_EQ(parsed.body, bad.body);
  }
}

std::string ManyInterim() {
  std::string out;
  for (int i = 0; i <= ResponseParser::kMaxInterim; ++i) {
    out += "HTTP/1.1 103 Early Hints\r\n\r\n";
  }
  return out;
}

std::string ManyExtensions() {
  std::string out(kChunkedHead);
  for (int i = 0; i < 100; ++i) {
    out += "1;" + std::string(1000, 'e') + "\r\nx\r\n";
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadResponseTest,
    ::testing::Values(
        BadCase{"AnotherProtocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", Error::kNotHttp},
        BadCase{"AnotherProtocolWithoutLines", "\x15\x03\x01", Error::kNotHttp},
        BadCase{"AnotherVersion", "HTTP/2.0 200 OK\r\n\r\n", Error::kNotHttp},
        BadCase{"CodeOfLetters", "HTTP/1.1 abc OK\r\n\r\n", Error::kNotHttp},
        BadCase{"NegativeCode", "HTTP/1.1 -20 OK\r\n\r\n", Error::kNotHttp},
        BadCase{"CodeTooLong", "HTTP/1.1 2000 OK\r\n\r\n", Error::kNotHttp},
        BadCase{"FieldWithoutColon", "HTTP/1.1 200 OK\r\nContent\r\n\r\n", Error::kNotHttp},
        BadCase{"SpaceBeforeColon", "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nx",
                Error::kNotHttp},
        BadCase{"FoldedField", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", Error::kNotHttp},
        BadCase{"BadLength", "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\nx", Error::kNotHttp},
        BadCase{"NegativeLength", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
                Error::kNotHttp},
        BadCase{"TwoLengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
                Error::kNotHttp},
        BadCase{"AnotherCoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                Error::kNotHttp},
        BadCase{"HeadTooLong",
                "HTTP/1.1 200 OK\r\nX: " + std::string(ResponseParser::kMaxHead, 'x') + "\r\n\r\n",
                Error::kHeadTooLong},
        BadCase{"TooManyInterimAnswers", ManyInterim(), Error::kHeadTooLong},
        BadCase{"ChunkSizeOfLetters", std::string(kChunkedHead) + "xyz\r\n", Error::kBadChunk},
        BadCase{"NoChunkSize", std::string(kChunkedHead) + "\r\n", Error::kBadChunk},
        BadCase{"NegativeChunkSize", std::string(kChunkedHead) + "5\r\nhello\r\n-1\r\nX",
                Error::kBadChunk, "hello"},
        BadCase{"HugeChunkSize", std::string(kChunkedHead) + "fffffffff\r\nhello\r\n",
                Error::kBadChunk},
        BadCase{"LineFeedAloneAfterASize", std::string(kChunkedHead) + "5\nhello\r\n",
                Error::kBadChunk},
        BadCase{"LineFeedInAnExtension", std::string(kChunkedHead) + "5;a\n\r\nhello\r\n",
                Error::kBadChunk},
        BadCase{"ChunkLongerThanItsSize", std::string(kChunkedHead) + "5\r\nhello!\r\n",
                Error::kBadChunk, "hello"},
        BadCase{"EndlessTrailers", std::string(kChunkedHead) + "0\r\n" + std::string(20000, 't'),
                Error::kBadChunk},
        BadCase{"ExtensionTooLong",
                std::string(kChunkedHead) + "1;" + std::string(20000, 'e') + "\r\nx\r\n",
                Error::kBadChunk}),
    [](const auto& bad) { return bad.param.name; });

TEST(ResponseParserTest, ExtensionsThatDwarfTheDataAreRefused) {
  const Parsed parsed = Parse(ManyExtensions(), {});
  EXPECT_EQ(parsed.error, Error::kBadChunk);
  EXPECT_LT(parsed.body.size(), 20U);
}

TEST(ResponseParserTest, SmallChunksAreNoOverhead) {
  std::string bytes(kChunkedHead);
  for (int i = 0; i < 10000; ++i) {
    bytes += "1\r\nx\r\n";
  }
  const Parsed parsed = Parse(bytes + "0\r\n\r\n", {});
  EXPECT_EQ(parsed.error, Error::kNone);
  EXPECT_EQ(parsed.body, std::string(10000, 'x'));
  EXPECT_TRUE(parsed.ended);
}

TEST(ResponseParserTest, SomeAnswersHaveNoBody) {
  for (const char* code : {"204 No Content", "304 Not Modified"}) {
    const Parsed parsed =
        Parse("HTTP/1.1 " + std::string(code) + "\r\nContent-Length: 5\r\n\r\n", {});
    EXPECT_TRUE(parsed.ended) << code;
    EXPECT_TRUE(parsed.keeps_alive) << code;
  }
  constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  EXPECT_TRUE(Parse(kOk, {}, false, ResponseParser::Body::kNone).ended);
  EXPECT_TRUE(Parse(kOk, {}, false, ResponseParser::Body::kTunnel).ended);
  EXPECT_FALSE(Parse(kOk, {}).ended);
  constexpr std::string_view kRefused = "HTTP/1.1 407 No\r\nContent-Length: 5\r\n\r\n";
  EXPECT_FALSE(Parse(kRefused, {}, false, ResponseParser::Body::kTunnel).ended);
}

TEST(ResponseParserTest, WhatBreaksOffHasNotEnded) {
  constexpr std::string_view kCounted = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell";
  const std::string chunked = std::string(kChunkedHead) + "5\r\nhello\r\n0\r\n\r";
  for (const std::string_view bytes : {kCounted, std::string_view(chunked)}) {
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
      EXPECT_FALSE(Parse(bytes.substr(0, size), {}, true).ended) << size;
    }
  }
}

TEST(ResponseParserTest, TheBodyOfOneChunkIsNotMoved) {
  ResponseParser parser;
  std::string bytes(kChunkedHead);
  EXPECT_EQ(parser.TakeHead(bytes + "a\r\nhel"), bytes.size());
  std::string piece = "a\r\n";
  EXPECT_EQ(parser.TakeBody(piece.data(), piece.size()).payload, 0U);
  piece = "hello";
  const auto taken = parser.TakeBody(piece.data(), piece.size());
  EXPECT_EQ(taken.payload, 5U);
  EXPECT_EQ(piece, "hello");
}

}  // namespace
}  // namespace kubexx::rest::internal
