// Clients that do not read what a stream sends them, until later.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/http/server.h"

namespace kubexx::http {
namespace {

using Context = std::unique_ptr<SSL_CTX, decltype([](SSL_CTX* c) { SSL_CTX_free(c); })>;
using Connection = std::unique_ptr<SSL, decltype([](SSL* s) { SSL_free(s); })>;

// More than a connection of loopback takes in, in pieces that go out at once and, now and then, in
// one that does not.
constexpr int kPieces = 30'000;
constexpr int kLargeEvery = 1'000;

std::string PieceOf(int number) {
  return std::to_string(number) + ":" + std::string(number % kLargeEvery == 0 ? 40'000 : 700, 'x') +
         "\n";
}

/// Pieces with their numbers, one for each time that it is asked.
class NumberedStream final : public BodyStream {
 public:
  explicit NumberedStream(std::atomic<int>& taken) : taken_(taken) {}
  void Start(std::function<void()> /*wake*/) override {}
  bool Take(std::vector<Chunk>& chunks) override {
    chunks.push_back(std::make_shared<const std::string>(PieceOf(taken_.load())));
    return ++taken_ < kPieces;
  }
  void Closed() override {}

 private:
  std::atomic<int>& taken_;
};

/// A connection with TLS or without.
class SlowClient {
 public:
  SlowClient(std::uint16_t port, bool tls) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    if (tls) {
      context_.reset(SSL_CTX_new(TLS_client_method()));
      ssl_.reset(SSL_new(context_.get()));
      SSL_set_fd(ssl_.get(), fd_);
      EXPECT_EQ(SSL_connect(ssl_.get()), 1);
    }
  }
  SlowClient(const SlowClient&) = delete;
  SlowClient& operator=(const SlowClient&) = delete;
  ~SlowClient() {
    ssl_.reset();
    ::close(fd_);
  }

  void Send(std::string_view text) const {
    const auto size = ssl_ ? SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()))
                           : ::send(fd_, text.data(), text.size(), 0);
    EXPECT_EQ(size, static_cast<ssize_t>(text.size()));
  }

  /// Makes a server with TLS answer in between.
  void AskForNewKeys() const {
    if (ssl_) {
      EXPECT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED), 1);
      EXPECT_EQ(SSL_do_handshake(ssl_.get()), 1);
    }
  }

  /// Until the server closes.
  std::string ReadAll() const {
    std::string text;
    std::array<char, 65536> buffer{};
    while (true) {
      const auto size = ssl_ ? SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()))
                             : ::recv(fd_, buffer.data(), buffer.size(), 0);
      if (size <= 0) {
        return text;
      }
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  int fd_;
  Context context_{};
  Connection ssl_{};
};

/// The contents of the chunks after the header.
std::string BodyOf(const std::string& answer) {
  std::string body;
  std::size_t at = answer.find("\r\n\r\n") + 4;
  while (at < answer.size()) {
    const std::size_t size = std::stoul(answer.substr(at, 16), nullptr, 16);
    at = answer.find("\r\n", at) + 2;
    body.append(answer, at, size);
    at += size + 2;
  }
  return body;
}

class SlowClientTest : public ::testing::TestWithParam<bool> {};

TEST_P(SlowClientTest, GetsEverythingInOrderOnceItReads) {
  std::atomic<int> taken = 0;
  // It may be slow: on a loaded machine the others take longer than the usual limit for a write.
  Server server({.address = "127.0.0.1:0",
                 .write_timeout = std::chrono::hours(1),
                 .tls = GetParam() ? std::optional(TlsOptions()) : std::nullopt});
  server.Handle("/stream", [&](const Request&) {
    return Response{.stream = std::make_shared<NumberedStream>(taken)};
  });
  server.Handle("/other", [](const Request&) { return Response{.body = "other"}; });
  ASSERT_TRUE(server.Start());
  const SlowClient client(server.port(), GetParam());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  // Until no more is taken from the stream: its connection is full, and others are served.
  for (int before = -1; before != taken || before == 0;) {
    before = taken;
    const SlowClient other(server.port(), GetParam());
    other.Send("GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(other.ReadAll().ends_with("other"));
    client.AskForNewKeys();
  }
  EXPECT_LT(taken, kPieces);
  const std::string body = BodyOf(client.ReadAll());
  std::string expected;
  for (int i = 0; i < kPieces; ++i) {
    expected += PieceOf(i);
  }
  ASSERT_EQ(body.size(), expected.size());
  EXPECT_TRUE(body == expected);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SlowClientTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Tls" : "Plain"; });

}  // namespace
}  // namespace kubexx::http
