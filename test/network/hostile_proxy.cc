#include "hostile_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <stop_token>
#include <string_view>
#include <utility>

namespace kubexx::network_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long a client may be held up by a fault before the proxy lets go. Much longer than the
// client's deadlines, so that these end it, and longer than the test lets a request take: a client
// without deadlines is noticed. One that gives up ends it at once.
constexpr std::chrono::seconds kHold(60);
// A watch in which something comes now and then lives for as long as it does.
constexpr std::chrono::seconds kTrickleTime(4);
constexpr milliseconds kTricklePause(20);
constexpr int kPollMilliseconds = 50;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  int get() const { return fd_; }
  /// The close is a reset.
  void ResetAtClose() const {
    const linger option{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &option, sizeof(option));
  }

 private:
  int fd_;
};

sockaddr_in LoopbackAt(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

const char* NameOf(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return "none";
    case Fault::kRefuse:
      return "refuse";
    case Fault::kCut:
      return "cut";
    case Fault::kReset:
      return "reset";
    case Fault::kStall:
      return "stall";
    case Fault::kTrickle:
      return "trickle";
    case Fault::kHalfClose:
      return "half-close";
    case Fault::kSingle:
      return "single bytes";
    case Fault::kCorrupt:
      return "corrupt";
  }
  return "?";
}

// One connection, on its thread.
class HostileProxy::Relay {
 public:
  Relay(HostileProxy& proxy, int client, Plan plan, std::stop_token stop)
      : proxy_(proxy),
        client_(client),
        server_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        plan_(plan),
        hostile_(!proxy.honest_),
        recovery_(proxy.recoveries_),
        strike_(proxy.strikes_),
        stop_(std::move(stop)) {}

  void Run() {
    if (plan_.fault == Fault::kRefuse) {
      proxy_.Count(plan_.fault);
      client_.ResetAtClose();
      return;
    }
    const sockaddr_in address = LoopbackAt(proxy_.to_port_);
    if (::connect(server_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
        0) {
      return;
    }
    std::array<pollfd, 2> ends{pollfd{.fd = client_.get(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = server_.get(), .events = POLLIN, .revents = 0}};
    while (Goes() && Obey()) {
      if (proxy_.still_) {
        ::poll(nullptr, 0, kPollMilliseconds);
        continue;
      }
      if (::poll(ends.data(), ends.size(), kPollMilliseconds) <= 0) {
        continue;
      }
      for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].revents != 0 && !Pass(i, ends[i])) {
          return;
        }
      }
    }
  }

 private:
  bool Goes() const { return !stop_.stop_requested() && hostile_ != proxy_.honest_; }

  // What is done to all connections. False when this one is over.
  bool Obey() {
    const std::uint64_t strike = proxy_.strikes_;
    if (strike == strike_) {
      return true;
    }
    strike_ = strike;
    plan_ = {.fault = static_cast<Fault>(strike >> 1 & 0xff), .direction = strike & 1};
    return Misbehave(plan_.direction == 0 ? server_.get() : client_.get(), {});
  }

  // Reads what has come from one side. False when the connection is over.
  bool Pass(std::size_t from, pollfd& end) {
    std::array<char, 16384> block;
    const int target = from == 0 ? server_.get() : client_.get();
    const ssize_t n = ::recv(end.fd, block.data(), block.size(), 0);
    if (n <= 0) {
      ::shutdown(target, SHUT_WR);
      end.fd = -1;  // not polled any more
      return n == 0 && ++ended_ < 2;
    }
    const std::string_view bytes(block.data(), static_cast<std::size_t>(n));
    if (plan_.fault == Fault::kNone || from != plan_.direction) {
      return Send(target, bytes);
    }
    if (half_closed_) {
      return true;
    }
    const std::size_t before = passed_;
    passed_ += bytes.size();
    if (passed_ < plan_.after) {
      return Send(target, bytes);
    }
    const std::size_t good = plan_.after - std::min(before, plan_.after);
    if (!Send(target, bytes.substr(0, good))) {
      return false;
    }
    if (!gone_wrong_) {
      proxy_.Count(plan_.fault);
    }
    gone_wrong_ = true;
    if (plan_.fault == Fault::kCorrupt && before <= plan_.after && good < bytes.size()) {
      block.at(good) = static_cast<char>(block.at(good) ^ 1);
    }
    return Misbehave(target, bytes.substr(good));
  }

  // False when the connection is over.
  bool Misbehave(int target, std::string_view left) {
    switch (plan_.fault) {
      case Fault::kReset:
        client_.ResetAtClose();
        server_.ResetAtClose();
        return false;
      case Fault::kStall:
        AwaitClient(kHold);
        return false;
      case Fault::kTrickle:
        Trickle(target, left);
        return false;
      case Fault::kHalfClose:
        ::shutdown(target, SHUT_WR);
        half_closed_ = true;
        return true;
      case Fault::kSingle:
        return SendSingly(target, left);
      case Fault::kCorrupt:
        return Send(target, left);
      case Fault::kNone:
      case Fault::kRefuse:
      case Fault::kCut:
        return false;
    }
    return false;
  }

  void Trickle(int target, std::string_view left) {
    const auto end = steady_clock::now() + kTrickleTime;
    while (!left.empty() && steady_clock::now() < end && Send(target, left.substr(0, 1)) &&
           AwaitClient(kTricklePause)) {
      left.remove_prefix(1);
    }
    AwaitClient(kHold);
  }

  // Whether the client is still there after `time`.
  bool AwaitClient(milliseconds time) const {
    const auto end = steady_clock::now() + time;
    pollfd client{.fd = client_.get(), .events = POLLRDHUP, .revents = 0};
    while (Goes() && recovery_ == proxy_.recoveries_) {
      const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
      if (left.count() <= 0) {
        return true;
      }
      const int wait =
          static_cast<int>(std::min<milliseconds::rep>(left.count(), kPollMilliseconds));
      if (::poll(&client, 1, wait) > 0) {
        return false;
      }
    }
    return false;
  }

  static bool Send(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  static bool SendSingly(int fd, std::string_view bytes) {
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    while (!bytes.empty() && Send(fd, bytes.substr(0, 1))) {
      bytes.remove_prefix(1);
    }
    return bytes.empty();
  }

  HostileProxy& proxy_;
  const Descriptor client_;
  const Descriptor server_;
  Plan plan_;
  const bool hostile_;
  const int recovery_;    // how many there had been when it began
  std::uint64_t strike_;  // the last one that it knows
  const std::stop_token stop_;
  std::size_t passed_ = 0;  // in the plan's direction
  bool half_closed_ = false;
  bool gone_wrong_ = false;
  int ended_ = 0;
};

HostileProxy::HostileProxy(int to_port, std::uint64_t seed, Bytes bytes)
    : to_port_(to_port),
      bytes_(bytes),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  {
    const base::MutexLock lock(mu_);
    random_.emplace(seed);
  }
  Listen();
}

HostileProxy::HostileProxy(int to_port, std::deque<Plan> plans)
    : to_port_(to_port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  {
    const base::MutexLock lock(mu_);
    plans_ = std::move(plans);
  }
  Listen();
}

void HostileProxy::Listen() {
  sockaddr_in address = LoopbackAt(0);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, any, size) != 0 || ::listen(listener_, 512) != 0 ||
      ::getsockname(listener_, any, &size) != 0) {
    std::perror("listen");
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { Accept(); });
}

HostileProxy::~HostileProxy() {
  {
    const base::MutexLock lock(mu_);
    stopping_ = true;
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  std::list<Session> sessions;
  {
    const base::MutexLock lock(mu_);
    sessions.swap(sessions_);
  }
  sessions.clear();
  ::close(listener_);
}

void HostileProxy::BecomeHonest() { honest_ = true; }

void HostileProxy::Expect(const std::deque<Plan>& plans) {
  const base::MutexLock lock(mu_);
  plans_.insert(plans_.end(), plans.begin(), plans.end());
}

void HostileProxy::Strike(Fault fault, std::size_t direction) {
  constexpr std::uint64_t kOne = 1 << 9;
  std::uint64_t last = strikes_;
  while (!strikes_.compare_exchange_weak(
      last, (last & ~(kOne - 1)) + kOne + (static_cast<std::uint64_t>(fault) << 1) + direction)) {
  }
}

void HostileProxy::Recover() {
  {
    const base::MutexLock lock(mu_);
    plans_.clear();
  }
  still_ = false;
  refusing_ = false;
  ++recoveries_;
}

std::map<Fault, int> HostileProxy::faults() const {
  const base::MutexLock lock(mu_);
  return faults_;
}

void HostileProxy::Count(Fault fault) {
  const base::MutexLock lock(mu_);
  ++faults_[fault];
}

HostileProxy::Plan HostileProxy::MakePlan() {
  const base::MutexLock lock(mu_);
  if (honest_) {
    return {};
  }
  if (refusing_) {
    return {.fault = Fault::kRefuse};
  }
  if (!random_) {
    const Plan plan = plans_.empty() ? Plan() : plans_.front();
    if (!plans_.empty()) {
      plans_.pop_front();
    }
    return plan;
  }
  // Early bytes are the interesting ones: a handshake, a head, the first event.
  const double size = std::uniform_real_distribution<double>(0, std::log(32.0 * 1024))(*random_);
  const unsigned kinds = bytes_ == Bytes::kProtected ? 8 : 7;
  return {.fault = static_cast<Fault>(1 + (*random_)() % kinds),
          .direction = (*random_)() % 2,
          .after = static_cast<std::size_t>(std::exp(size)) - 1};
}

void HostileProxy::Accept() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::list<Session> over;
    const Plan plan = fd >= 0 ? MakePlan() : Plan();
    const base::MutexLock lock(mu_);
    if (fd < 0 || stopping_) {
      if (fd >= 0) {
        ::close(fd);
      }
      return;
    }
    for (auto session = sessions_.begin(); session != sessions_.end();) {
      const auto next = std::next(session);
      if (*session->over) {
        over.splice(over.end(), sessions_, session);
      }
      session = next;
    }
    Session& session = sessions_.emplace_back();
    session.over = std::make_shared<std::atomic<bool>>(false);
    session.thread = std::jthread([this, fd, plan, over_flag = session.over](std::stop_token stop) {
      Relay(*this, fd, plan, std::move(stop)).Run();
      *over_flag = true;
    });
  }
}

}  // namespace kubexx::network_test
