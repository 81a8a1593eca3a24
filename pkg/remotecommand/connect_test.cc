#include <arpa/inet.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/base/host_lookup.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/remotecommand/executor.h"
#include "kubexx/remotecommand/testing/web_socket_server.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"

// What connecting may run into holds nobody longer than the time for it.

namespace {

std::atomic<int> lookups_begun = 0;
std::atomic<int> lookups_waiting = 0;
std::counting_semaphore<> answer(0);

std::atomic<bool> is_held = false;
std::atomic<bool> hold = false;

// Keeps the thread that it interrupts, for a minute at most. A signal's handler may call little.
extern "C" void HoldThread(int) {
  is_held = true;
  const std::time_t end = ::time(nullptr) + 60;
  while (hold && ::time(nullptr) < end) {
    ::sched_yield();
  }
}

}  // namespace

// Nobody answers for names that end so until the test lets it. "two-addresses.test" has two
// addresses.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** out) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const std::string_view asked = name == nullptr ? "" : name;
  if (asked.ends_with(".silent.test")) {
    ++lookups_waiting;
    ++lookups_begun;
    // Not for ever, so that a call that waits for it fails its test.
    (void)answer.try_acquire_for(std::chrono::seconds(30));
    --lookups_waiting;
    return EAI_AGAIN;
  }
  if (asked != "two-addresses.test") {
    return next(name, service, hints, out);
  }
  if (const int error = next("127.0.0.3", service, hints, out); error != 0) {
    return error;
  }
  addrinfo* last = *out;
  while (last->ai_next != nullptr) {
    last = last->ai_next;
  }
  return next("127.0.0.1", service, hints, &last->ai_next);
}

namespace kubexx::remotecommand {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using testing::ServerConnection;
using testing::WebSocketServer;

Result<Exit> RunAt(const std::string& url, std::chrono::milliseconds timeout,
                   const std::stop_token& stop = {}) {
  std::string out;
  return Executor(rest::testing::ClientFor({.host = url}), {.connect_timeout = timeout})
      .Exec({.namespace_ = "ns", .pod = "web-0"}, {"true"}, {.out = StringSink(out)}, stop);
}

// Before the tests whose lookups may still be ending when they are over.
TEST(ManyLookupsTest, OneOfTooManyNamesFailsInPlainWords) {
  constexpr int kMost = 64;
  std::atomic<int> answered = 0;
  for (int i = 0; i < kMost; ++i) {
    base::LookUpHost(std::to_string(i) + ".silent.test", "80",
                     [&answered](const base::HostAddresses&) { ++answered; });
  }
  const auto exit = RunAt("http://another.silent.test:80", std::chrono::minutes(10));
  EXPECT_EQ(answered, 0);
  answer.release(kMost);
  KX_AWAIT_EQ(answered, kMost);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().message,
            "connect to another.silent.test:80: too many lookups of host names are under way");
}

class SilentResolverTest : public ::testing::Test {
 protected:
  ~SilentResolverTest() override {
    answer.release();
    KX_AWAIT_EQ(lookups_waiting, 0);
  }
  const int before_ = lookups_begun;
};

TEST_F(SilentResolverTest, TheTimeForConnectingHolds) {
  const auto exit = RunAt("http://one.silent.test:80", std::chrono::milliseconds(50));
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kUnavailable);
  EXPECT_THAT(exit.error().message, ::testing::HasSubstr("timed out"));
  // its thread may begin late
  KX_AWAIT_NE(lookups_begun, before_);
  EXPECT_EQ(lookups_waiting, 1) << "the call has waited for the lookup";
}

TEST_F(SilentResolverTest, SoDoesStop) {
  std::stop_source stop;
  Result<Exit> exit;
  {
    std::jthread caller([&] {
      exit = RunAt("http://two.silent.test:80", std::chrono::minutes(10), stop.get_token());
    });
    KX_AWAIT_NE(lookups_begun, before_);
    stop.request_stop();
  }
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kCancelled);
  EXPECT_EQ(lookups_waiting, 1) << "the call has waited for the lookup";
}

// Listens on 127.0.0.3 and takes so few connections that further ones are not answered at all.
class BlackHole {
 public:
  explicit BlackHole(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, "127.0.0.3", &address.sin_addr);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    fds_.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    works_ = ::bind(fds_[0], to, sizeof(address)) == 0 && ::listen(fds_[0], 0) == 0;
    for (bool connected = works_; connected && fds_.size() < 100;) {
      fds_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      (void)::connect(fds_.back(), to, sizeof(address));
      pollfd event{.fd = fds_.back(), .events = POLLOUT, .revents = 0};
      connected = ::poll(&event, 1, 300) == 1;
    }
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  ~BlackHole() {
    for (const int fd : fds_) {
      ::close(fd);
    }
  }
  bool works() const { return works_; }

 private:
  std::vector<int> fds_;
  bool works_ = false;
};

TEST(BlackHoleTest, TheNextAddressIsTriedInTime) {
  WebSocketServer server({.script = [](ServerConnection& connection) {
    connection.Write(std::string("\3") + R"({"metadata":{},"status":"Success"})");
    connection.Close(1000);
  }});
  const std::string url = server.Url();
  const std::string port = url.substr(url.rfind(':') + 1);
  const BlackHole hole(std::stoi(port));
  ASSERT_TRUE(hole.works());
  const auto exit = RunAt("http://two-addresses.test:" + port, std::chrono::seconds(8));
  EXPECT_TRUE(exit) << exit.error().ToString();
}

// The answer and the end of the time are both there when the caller's thread looks next.
TEST(LateThreadTest, AnAnswerAtTheEndOfTheTimeIsOneOrTheOther) {
  struct sigaction held{};
  held.sa_handler = HoldThread;
  struct sigaction before{};
  ASSERT_EQ(::sigaction(SIGUSR1, &held, &before), 0);
  constexpr std::chrono::milliseconds kTimeout(200);
  const pthread_t caller = ::pthread_self();
  is_held = false;
  hold = true;
  WebSocketServer server({.script =
                              [&](ServerConnection& connection) {
                                base::Clock::Real().SleepFor(kTimeout, {});
                                hold = false;
                                // Of the input: what comes after it is not there yet when the
                                // connection is made.
                                (void)connection.Read();
                                connection.Write(std::string("\3") +
                                                 R"({"metadata":{},"status":"Success"})");
                                connection.Close(1000);
                              },
                          .accepts =
                              [&](const std::string&) {
                                ::pthread_kill(caller, SIGUSR1);
                                KX_AWAIT(is_held);
                                return true;
                              }});
  const auto exit =
      Executor(rest::testing::ClientFor({.host = server.Url()}), {.connect_timeout = kTimeout})
          .Exec({.namespace_ = "ns", .pod = "web-0"}, {"cat"}, {.in = StringSource("x")});
  hold = false;
  ::sigaction(SIGUSR1, &before, nullptr);
  if (!exit) {
    EXPECT_THAT(exit.error().message, ::testing::HasSubstr("timed out"));
  }
}

}  // namespace
}  // namespace kubexx::remotecommand
