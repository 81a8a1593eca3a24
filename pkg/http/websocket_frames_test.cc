#include "kubexx/http/internal/websocket_frames.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace kubexx::http::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(WebSocketFramesTest, TheKeyIsAnsweredAsInTheStandard) {
  EXPECT_EQ(AcceptKey("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketFramesTest, HeadersHaveThreeSizes) {
  EXPECT_EQ(FrameHeader(Opcode::kText, 5), std::string("\x81\x05"));
  EXPECT_EQ(FrameHeader(Opcode::kBinary, 256), std::string("\x82\x7e\x01\x00", 4));
  EXPECT_EQ(FrameHeader(Opcode::kText, 65536),
            std::string("\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10));
}

/// As a client sends it.
std::string Masked(Opcode opcode, std::string payload) {
  std::string frame = FrameHeader(opcode, payload.size());
  frame[1] = static_cast<char>(frame[1] | 0x80);
  const std::string mask = "\x11\x22\x33\x44";
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
  }
  return frame + mask + payload;
}

TEST(WebSocketFramesTest, ControlFramesAreFoundInAnyPieces) {
  const std::string stream = Masked(Opcode::kPing, "hello") + Masked(Opcode::kText, "passed over") +
                             Masked(Opcode::kBinary, std::string(300, 'x')) +
                             Masked(Opcode::kPong, "") + Masked(Opcode::kClose, "\x03\xe8");
  for (const std::size_t piece : {1U, 7U, 1000U}) {
    ClientFrames frames;
    std::vector<std::pair<Opcode, std::string>> found;
    for (std::size_t i = 0; i < stream.size(); i += piece) {
      EXPECT_TRUE(frames.Feed(std::string_view(stream).substr(i, piece),
                              [&found](Opcode opcode, std::string_view payload) {
                                found.emplace_back(opcode, payload);
                              }));
    }
    EXPECT_THAT(found, ElementsAre(Pair(Opcode::kPing, "hello"), Pair(Opcode::kPong, ""),
                                   Pair(Opcode::kClose, "\x03\xe8")));
  }
}

TEST(WebSocketFramesTest, WhatNoClientSendsIsRefused) {
  const auto ignore = [](Opcode, std::string_view) {};
  EXPECT_FALSE(ClientFrames().Feed("\x81\x05hello", ignore));  // not masked
  EXPECT_FALSE(ClientFrames().Feed(Masked(Opcode::kPing, std::string(126, 'x')), ignore));
}

}  // namespace
}  // namespace kubexx::http::internal
