// Clients that ask for much and do not read it, beside those that do.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/http/server.h"
#include "kubexx/http/testing/raw_connection.h"

namespace kubexx::http {
namespace {

/// More than both ends of a connection keep, of which a client's is small.
constexpr std::size_t kKept = 6 << 20;
constexpr std::size_t kAnswer = 4 * kKept;
constexpr std::size_t kSmall = 100;

/// Reads when it is told to, for at most a minute at a time.
class Reader {
 public:
  explicit Reader(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int kept = 64 << 10;
    EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &kept, sizeof(kept)), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { ::close(fd_); }

  /// Asks, and waits for the beginning of the answer.
  void Ask(std::string_view path) {
    const std::string request = "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    EXPECT_EQ(::send(fd_, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    EXPECT_EQ(Read(1), 1U);
  }
  /// Waits until the server can send no more, for as long as nothing is read. Its end of the
  /// connection is one of this process.
  void AwaitFull() const {
    const std::uint16_t port = testing::RawConnection::PortOf(fd_, ::getsockname);
    int server = -1;
    for (int fd = 0; fd < 1024 && server < 0; ++fd) {
      server = testing::RawConnection::PortOf(fd, ::getpeername) == port ? fd : -1;
    }
    ASSERT_GE(server, 0) << "the server has closed";
    pollfd room{server, POLLOUT, 0};
    KX_AWAIT_NE(::poll(&room, 1, 0), 1);
  }
  /// Sends a byte; false when the server has closed.
  bool SendByte() { return ::send(fd_, "x", 1, MSG_NOSIGNAL) == 1; }
  /// Reads so many bytes; fewer when the server has closed. Returns how many.
  std::size_t Read(std::size_t bytes) {
    std::size_t got = 0;
    while (got < bytes) {
      pollfd wait{fd_, POLLIN, 0};
      if (::poll(&wait, 1, 60'000) != 1) {
        ADD_FAILURE() << "the server neither answered nor closed within a minute";
        break;
      }
      const ssize_t size = ::recv(fd_, buffer_.data(), std::min(buffer_.size(), bytes - got), 0);
      if (size <= 0) {
        break;
      }
      got += static_cast<std::size_t>(size);
    }
    return got;
  }

 private:
  int fd_;
  std::array<char, 65536> buffer_{};
};

/// A stream that begins with much and does not end.
class OneChunk final : public BodyStream {
 public:
  explicit OneChunk(Chunk chunk) : chunk_(std::move(chunk)) {}

  void Start(std::function<void()> /*wake*/) override {}
  bool Take(std::vector<Chunk>& chunks) override {
    if (chunk_ != nullptr) {
      chunks.push_back(std::move(chunk_));
    }
    return true;
  }
  void Closed() override {}

 private:
  Chunk chunk_;
};

class UnreadAnswersTest : public ::testing::Test {
 protected:
  /// For so many of the large answers.
  void Start(double answers, std::chrono::milliseconds patience = {},
             std::chrono::milliseconds write_timeout = std::chrono::hours(1)) {
    Server::Options options{.address = "127.0.0.1:0"};
    options.max_unread_answer_bytes = static_cast<std::size_t>(answers * kAnswer);
    options.answer_patience = patience;
    options.write_timeout = write_timeout;
    options.min_write_rate = min_write_rate_;
    server_ = std::make_unique<Server>(std::move(options));
    server_->Handle("/much",
                    [](const Request&) { return Response{.body = std::string(kAnswer, 'x')}; });
    server_->Handle("/little",
                    [](const Request&) { return Response{.body = std::string(kSmall, 'x')}; });
    server_->Handle("/stream", [](const Request&) {
      return Response{
          .stream = std::make_shared<OneChunk>(std::make_shared<const std::string>(kAnswer, 'x'))};
    });
    server_->Handle("/shared",
                    [chunk = std::make_shared<const std::string>(kAnswer, 'x')](const Request&) {
                      return Response{.stream = std::make_shared<OneChunk>(chunk)};
                    });
    ASSERT_TRUE(server_->Start());
  }
  Reader& NewReader() { return readers_.emplace_back(server_->port()); }

  /// Eight ask for the large answer before the first of them reads on; how many get all of it.
  int WholeOfEight(std::string_view path = "/much") {
    for (int i = 0; i < 8; ++i) {
      NewReader().Ask(path);
    }
    int whole = 0;
    for (Reader& reader : readers_) {
      whole += reader.Read(kAnswer) == kAnswer ? 1 : 0;
    }
    return whole;
  }

  std::size_t min_write_rate_ = Server::Options().min_write_rate;
  std::unique_ptr<Server> server_;
  std::deque<Reader> readers_{};
};

TEST_F(UnreadAnswersTest, MakeRoomForOthers) {
  Start(3.5);
  EXPECT_EQ(WholeOfEight(), 3);
  EXPECT_EQ(readers_.back().Read(1), 1U) << "the last ones are those that stay";
}

TEST_F(UnreadAnswersTest, SoDoStreamsThatBeginWithMuch) {
  Start(3.5);
  EXPECT_EQ(WholeOfEight("/stream"), 3);
}

TEST_F(UnreadAnswersTest, WhatStreamsShareIsHeldOnce) {
  Start(3.5);
  EXPECT_EQ(WholeOfEight("/shared"), 8);
}

// It reads a while, and says something meanwhile. Where the machine is slow its time may be over
// before it has read so much.
TEST_F(UnreadAnswersTest, WhoStopsReadingAStreamIsGivenUpInTheEnd) {
  Start(3, {}, std::chrono::milliseconds(300));
  Reader& reader = NewReader();
  reader.Ask("/stream");
  std::size_t read = 1;
  for (bool open = true; open && read < kKept;) {
    open = reader.SendByte();
    const std::size_t more = reader.Read(kAnswer / 400);
    open = open && more > 0;
    read += more;
  }
  EXPECT_LT(read, kAnswer);
  KX_AWAIT(!reader.SendByte());
}

/// Whether a client that reads all the time, and takes longer than the limit for all of it, gets
/// all of a large answer. Meanwhile others are served.
bool GetsAllInItsTime(Server& server, std::string_view path, std::chrono::milliseconds limit) {
  Reader slow(server.port());
  slow.Ask(path);
  const testing::RawConnection other(server.port());
  constexpr int kParts = 300;
  const auto begin = std::chrono::steady_clock::now();
  std::size_t read = 1;
  for (int i = 1; i <= kParts; ++i) {
    const std::size_t more = slow.Read(kAnswer / kParts);
    if (more < kAnswer / kParts) {
      return read + more >= kAnswer;
    }
    read += more;
    do {
      other.Send("GET /little HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil(std::string(kSmall, 'x'));
    } while (std::chrono::steady_clock::now() < begin + i * limit * 3 / 2 / kParts);
  }
  return read + slow.Read(kAnswer - read) == kAnswer;
}

// A machine may be so slow that the client reads nothing for as long as the limit: then once more,
// with a longer one.
TEST_F(UnreadAnswersTest, WhoReadsSlowlyGetsAllOfIt) {
  for (const char* path : {"/much", "/stream"}) {
    bool all = false;
    for (int seconds = 1; seconds <= 16 && !all; seconds *= 4) {
      const std::chrono::seconds limit(seconds);
      Start(3, {}, limit);
      all = GetsAllInItsTime(*server_, path, limit);
    }
    EXPECT_TRUE(all) << path;
  }
}

// A byte now and then is not enough.
TEST_F(UnreadAnswersTest, WhoReadsLessThanTheLeastIsGivenUp) {
  min_write_rate_ = std::size_t{1} << 40;
  Start(3, {}, std::chrono::milliseconds(300));
  EXPECT_FALSE(GetsAllInItsTime(*server_, "/much", std::chrono::seconds(1)));
}

TEST_F(UnreadAnswersTest, WhoReadsStays) {
  Start(2.5);
  Reader& steady = NewReader();
  steady.Ask("/much");
  // It goes on each time, for it reads more than what was on its way, when the server has sent the
  // others all that they have room for.
  for (int i = 0; i < 3; ++i) {
    Reader& other = NewReader();
    other.Ask("/much");
    other.AwaitFull();
    EXPECT_EQ(steady.Read(kKept), kKept);
  }
  EXPECT_EQ(steady.Read(kKept), kKept);
}

TEST_F(UnreadAnswersTest, AnAnswerMayBeLargerThanWhatMayWait) {
  Start(0.5);
  Reader& first = NewReader();
  first.Ask("/much");
  EXPECT_EQ(first.Read(kAnswer), kAnswer);
}

TEST_F(UnreadAnswersTest, SmallAnswersEndNoLargeOne) {
  Start(0.5);
  Reader& first = NewReader();
  first.Ask("/much");
  Reader& other = NewReader();
  for (int i = 0; i < 20; ++i) {
    other.Ask("/little");
  }
  EXPECT_EQ(first.Read(kAnswer), kAnswer);
}

TEST_F(UnreadAnswersTest, WhoHasJustReadStaysUntilTwiceAsMuchWaits) {
  Start(2.6, std::chrono::hours(1));
  EXPECT_EQ(WholeOfEight(), 5);
}

TEST_F(UnreadAnswersTest, WhatHasBeenReadDoesNotCount) {
  Start(1.5);
  Reader& still = NewReader();
  still.Ask("/much");
  Reader& other = NewReader();
  for (int i = 0; i < 20; ++i) {
    other.Ask("/little");
    EXPECT_GT(other.Read(kSmall), 0U);
  }
  EXPECT_EQ(still.Read(kAnswer), kAnswer);
  for (int i = 0; i < 3; ++i) {
    Reader& next = NewReader();
    next.Ask("/much");
    EXPECT_EQ(next.Read(kAnswer), kAnswer);
  }
}

}  // namespace
}  // namespace kubexx::http
