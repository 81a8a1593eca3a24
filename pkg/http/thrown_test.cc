// What becomes of a connection when something that is done for it on the network thread throws, as
// everything may that takes memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/http/server.h"
#include "kubexx/http/testing/server_fixture.h"

namespace kubexx::http {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Local;
using ::testing::Not;
using testing::RawConnection;

enum class Throws : std::uint8_t { kStart, kTake, kLaterTake };

/// A body that throws instead of being one.
class ThrowingStream final : public BodyStream {
 public:
  explicit ThrowingStream(Throws when) : when_(when) {}

  void Start(std::function<void()> wake) override {
    if (when_ == Throws::kStart) {
      throw std::runtime_error("no start");
    }
    if (when_ == Throws::kLaterTake) {
      wake();
    }
  }
  bool Take(std::vector<Chunk>& chunks) override {
    if (when_ == Throws::kTake || taken_) {
      throw std::runtime_error("nothing to take");
    }
    taken_ = true;
    chunks.push_back(std::make_shared<const std::string>("one\n"));
    return true;
  }
  void Closed() override {}

 private:
  const Throws when_;
  bool taken_ = false;
};

class ThrownTest : public testing::ServerFixture {
 protected:
  void StartCounting(Server::Options options) {
    ASSERT_NO_FATAL_FAILURE(Start(std::move(options)));
    // On the network's thread, which is done then with the connections that it has ended.
    server_->HandleAtOnce("/descriptors", [](const Request&) {
      const std::filesystem::directory_iterator all("/proc/self/fd");
      return Response{.body = std::to_string(std::distance(begin(all), end(all))) + " open"};
    });
  }
  static std::string Descriptors(const RawConnection& watcher) {
    const std::string answer =
        watcher.Send("GET /descriptors HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil(" open");
    return answer.substr(answer.rfind('\n') + 1);
  }
  /// What comes for a request after which the client says nothing and waits: only the server ends
  /// the connection. Its descriptor has to come back.
  std::string Ended(const std::string& path) {
    const RawConnection watcher(server_->port());
    const std::string before = Descriptors(watcher);
    std::string answer;
    {
      const RawConnection client(server_->port());
      answer = client.Send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").ReadAll();
    }
    EXPECT_EQ(Descriptors(watcher), before) << path;
    return answer;
  }
};

TEST_F(ThrownTest, AHeaderThatCannotBeLookedAtEndsItsConnection) {
  Server::Options options = Local();
  options.admit = [](const Request& request) -> std::optional<std::string> {
    if (request.path == "/bad") {
      throw std::runtime_error("no memory");
    }
    return "";
  };
  ASSERT_NO_FATAL_FAILURE(StartCounting(std::move(options)));
  EXPECT_THAT(Ended("/bad"), IsEmpty());
}

TEST_F(ThrownTest, AnAnswerThatCannotBeSentEndsItsConnection) {
  for (const std::size_t threads : {0U, 1U}) {
    for (const Throws when : {Throws::kStart, Throws::kTake, Throws::kLaterTake}) {
      Server::Options options = Local();
      options.handler_threads = threads;
      ASSERT_NO_FATAL_FAILURE(StartCounting(std::move(options)));
      server_->HandleOthers([when](const Request&) {
        return Response{.stream = std::make_shared<ThrowingStream>(when)};
      });
      EXPECT_THAT(Ended("/stream"), Not(HasSubstr("0\r\n\r\n"))) << "it has not ended well";
    }
  }
}

TEST_F(ThrownTest, ATimeoutThatCannotBeToldEndsItsConnection) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.handler_timeout = std::chrono::milliseconds(1);
  options.timeout_response = []() -> Response { throw std::runtime_error("no memory"); };
  ASSERT_NO_FATAL_FAILURE(StartCounting(std::move(options)));
  server_->HandleOthers([](const Request& request) {
    KX_AWAIT(request.stop.stop_requested());
    return Response{};
  });
  EXPECT_THAT(Ended("/slow"), IsEmpty());
}

}  // namespace
}  // namespace kubexx::http
