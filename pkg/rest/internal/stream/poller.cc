#include "kubexx/rest/internal/stream/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The number of wake_. No wait has this number.
constexpr std::uint64_t kWakeId = 0;

// The number of sockets that one call of the kernel reports at most.
constexpr std::size_t kReports = 64;

constexpr std::chrono::milliseconds kWithoutReports(10);

}  // namespace

Result<std::shared_ptr<Poller>> Poller::OfProcess() {
  // The two are never destroyed, because a stream may begin on another thread while the process
  // ends.
  static auto& mu = *new base::Mutex();
  static auto& shared = *new std::weak_ptr<Poller>();
  const base::MutexLock lock(mu);
  if (std::shared_ptr<Poller> poller = shared.lock()) {
    return poller;
  }
  std::shared_ptr<Poller> poller(
      new Poller(::epoll_create1(EPOLL_CLOEXEC), ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  epoll_event report{.events = EPOLLIN, .data = {.u64 = kWakeId}};
  if (poller->epoll_.get() < 0 || poller->wake_.get() < 0 ||
      ::epoll_ctl(poller->epoll_.get(), EPOLL_CTL_ADD, poller->wake_.get(), &report) != 0) {
    return Fail(Reason::kUnavailable,
                "cannot wait for sockets: " + std::string(std::strerror(errno)));
  }
  try {
    poller->thread_ =
        std::jthread([self = poller.get()](const std::stop_token& stop) { self->Run(stop); });
  } catch (const std::system_error& error) {
    return Fail(Reason::kUnavailable,
                "cannot start the network thread: " + std::string(error.what()));
  }
  shared = poller;
  return poller;
}

Poller::Poller(int epoll, int wake) : epoll_(epoll), wake_(wake) {}

Poller::~Poller() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

void Poller::Run(const std::stop_token& stop) {
  std::array<epoll_event, kReports> reports;
  while (!stop.stop_requested()) {
    const int count =
        ::epoll_wait(epoll_.get(), reports.data(), static_cast<int>(reports.size()), -1);
    std::vector<std::uint64_t> jobs;
    {
      const base::MutexLock lock(mu_);
      for (int i = 0; i < count; ++i) {
        // The number is copied, because the kernel's structure is packed and a reference into it
        // may be misaligned.
        const std::uint64_t id = reports[static_cast<std::size_t>(i)].data.u64;
        const auto found = waiters_.find(id);
        if (found == waiters_.end()) {
          continue;
        }
        if (found->second->work) {
          jobs.push_back(id);
        } else if (found->second->tell) {
          found->second->tell();
        } else {
          found->second->ready = true;
          // Notifies under the lock, because the waiter may be destroyed as soon as the lock is
          // released.
          found->second->changed.notify_all();
        }
      }
    }
    for (const std::uint64_t id : jobs) {
      Work(id);
    }
  }
}

void Poller::Work(std::uint64_t id) {
  Waiter* waiter = nullptr;
  {
    const base::MutexLock lock(mu_);
    const auto found = waiters_.find(id);
    if (found == waiters_.end()) {
      return;
    }
    waiter = found->second;
    working_ = id;
  }
  waiter->work();
  const base::MutexLock lock(mu_);
  working_ = 0;
  worked_.notify_all();
}

std::uint64_t Poller::Add(Waiter& waiter) {
  const base::MutexLock lock(mu_);
  waiters_.emplace(++last_id_, &waiter);
  return last_id_;
}

// The request replaces the one of an earlier wait for the socket. A socket that was closed has no
// request.
bool Poller::Arm(int fd, Interest interest, std::uint64_t id) const {
  const int to_read = EPOLLIN | EPOLLRDHUP;
  const int to_write = EPOLLOUT;
  const int events =
      (interest == Interest::kWrite ? 0 : to_read) | (interest == Interest::kRead ? 0 : to_write);
  epoll_event report{.events = static_cast<std::uint32_t>(events) | EPOLLONESHOT,
                     .data = {.u64 = id}};
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &report) == 0 ||
         (errno == ENOENT && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &report) == 0);
}

base::Wake Poller::Wait(int fd, Interest interest, base::Clock& clock, const std::stop_token& stop,
                        base::TimePoint deadline) {
  Waiter waiter;
  const std::uint64_t id = Add(waiter);
  const bool armed = Arm(fd, interest, id);
  base::Wake wake = base::Wake::kNotified;
  const base::MutexLock lock(mu_);
  if (!armed) {
    // The kernel is short of a resource, so no report will come. The caller looks at the socket
    // from time to time instead, also when a signal ended the wait early.
    base::Clock& real = base::Clock::Real();
    wake = real.WaitUntil(mu_, waiter.changed, stop, real.Now() + kWithoutReports);
    waiter.ready = wake != base::Wake::kStopped && clock.Now() < deadline;
  }
  while (!waiter.ready && wake == base::Wake::kNotified) {
    wake = clock.WaitUntil(mu_, waiter.changed, stop, deadline);
  }
  waiters_.erase(id);
  return waiter.ready ? base::Wake::kNotified : wake;
}

Poller::Signal::Signal(std::shared_ptr<Poller> poller, std::function<void()> tell)
    : poller_(std::move(poller)), waiter_{.tell = std::move(tell)}, id_(poller_->Add(waiter_)) {}

Poller::Signal::~Signal() {
  const base::MutexLock lock(poller_->mu_);
  poller_->waiters_.erase(id_);
}

Poller::Job::Job(std::shared_ptr<Poller> poller, std::function<void()> work)
    : poller_(std::move(poller)), waiter_{.work = std::move(work)}, id_(poller_->Add(waiter_)) {}

Poller::Job::~Job() {
  const base::MutexLock lock(poller_->mu_);
  poller_->waiters_.erase(id_);
  while (poller_->working_ == id_) {
    poller_->worked_.wait(poller_->mu_);
  }
}

}  // namespace kubexx::rest::internal
