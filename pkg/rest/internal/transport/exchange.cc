#include "kubexx/rest/internal/transport/exchange.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "kubexx/rest/internal/message/in_seconds.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The number of bytes that may wait for the caller before the network side pauses. A larger number
// saves thread switches on long lists, and a smaller one saves memory on many watches. Blocks
// larger than this are not copied at all.
constexpr std::size_t kBufferBytes = 256 * 1024;

// A stream is fast when most of the recent waits for it were short; a long wait halves their count.
// The blocks of a fast stream, which are often one small watch event each, gather up to this number
// of bytes or for this time. A stream with pauses is handed over at once, block by block.
constexpr int kShortWaits = 8;
constexpr int kMostShortWaits = 32;
constexpr std::chrono::microseconds kShortWait{500};
constexpr std::size_t kGatherBytes = 128 * 1024;

// A stream that brings nothing for this time gives large buffers back.
constexpr std::chrono::seconds kQuiet{1};
constexpr std::size_t kQuietBytes = 4 * 1024;

// No block may be larger, because cpprestsdk counts the bytes of a chunk in an int, and accepts
// "-1" as a size.
constexpr std::uint64_t kMaxBlock = std::numeric_limits<int>::max();

// Is true on the threads that call OnConnected and Put.
thread_local bool on_network_thread = false;

// Lets cpprestsdk continue to read as soon as a block is taken. Its own scheduler would queue each
// of its two steps behind another look at all sockets. This is done only on the thread where
// cpprestsdk reads; a task that ends on the caller's thread is queued.
// on the caller's thread is queued.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // it is about the base class
class NetworkThreadScheduler final : public pplx::scheduler_interface {
 public:
  void schedule(pplx::TaskProc_t step, void* parameter) override {
    if (on_network_thread) {
      step(parameter);
    } else {
      pplx::get_ambient_scheduler()->schedule(step, parameter);
    }
  }
};

#pragma GCC diagnostic pop

pplx::task<std::size_t> Taken(std::size_t count) {
  return pplx::task_from_result(count, OnNetworkThread());
}

// A body may hold Secrets. The memory after the string's end was wiped when it was last used.
void WipeAndClear(std::string& text) {
  explicit_bzero(text.data(), text.size());
  text.clear();
}

}  // namespace

// The continuations of a task with these options inherit the options.
pplx::task_options OnNetworkThread() {
  static NetworkThreadScheduler scheduler;
  return {pplx::scheduler_ptr(&scheduler)};
}

Exchange::~Exchange() { Close(); }

void Exchange::OnConnected() {
  on_network_thread = true;
  base::MutexLock lock(mu_);
  connected_ = true;
  changed_.notify_all();
}

void Exchange::OnHead(HttpHead head) {
  base::MutexLock lock(mu_);
  connected_ = true;
  head_ = std::move(head);
  changed_.notify_all();
}

void Exchange::OnReceived(std::uint64_t total) {
  const base::MutexLock lock(mu_);
  if (total - std::exchange(received_, total) > kMaxBlock) {
    throw std::runtime_error("the response has a malformed chunk");
  }
  if (failure_.has_value()) {
    throw std::runtime_error("the request has failed already");
  }
}

void Exchange::OnEnd() {
  base::MutexLock lock(mu_);
  ended_ = true;
  changed_.notify_all();
}

void Exchange::OnFailure(Failure failure) {
  base::MutexLock lock(mu_);
  if (!ended_) {
    ended_ = true;
    failure_ = std::move(failure);
  }
  changed_.notify_all();
}

pplx::task<std::size_t> Exchange::Put(const std::uint8_t* bytes, std::size_t count) {
  const std::string_view block(reinterpret_cast<const char*>(bytes), count);
  std::optional<pplx::task<std::size_t>> later;
  bool wake = false;
  on_network_thread = true;
  {
    base::MutexLock lock(mu_);
    if (closed_) {
      return Taken(count);  // the caller has gone, and the socket is being closed
    }
    if (count <= kBufferBytes - buffer_.size()) {
      buffer_.append(block);
    } else {
      pending_.emplace(Pending{.bytes = block});
      later = pplx::create_task(pending_->done, OnNetworkThread());
    }
    if (pending_.has_value() || buffer_.size() >= wake_at_) {
      wake = std::exchange(reading_, false);
    }
  }
  if (wake) {
    changed_.notify_all();
  }
  return later.has_value() ? *later : Taken(count);
}

Result<HttpHead> Exchange::AwaitHead(const std::stop_token& stop, const HttpCall::Limits& limits) {
  base::MutexLock lock(mu_);
  std::optional<base::TimePoint> respond;  // set when the request has been sent
  while (!head_.has_value()) {
    if (failure_.has_value()) {
      return Fail(failure_->status);
    }
    if (connected_ && !respond.has_value()) {
      respond =
          limits.response.count() > 0 ? clock_.Now() + limits.response : base::TimePoint::max();
    }
    const base::TimePoint deadline = std::min(respond.value_or(limits.connect), limits.head);
    const base::Wake wake = clock_.WaitUntil(mu_, changed_, stop, deadline);
    if (wake == base::Wake::kStopped) {
      return Fail(Reason::kCancelled, "stopped while waiting for the response");
    }
    if (wake == base::Wake::kTimeout && !head_.has_value() && !failure_.has_value()) {
      if (clock_.Now() >= limits.head) {
        return Fail(Reason::kTimeout, "no response within the request's timeout");
      }
      if (!connected_) {
        return Fail(Reason::kUnavailable, "no connection within the connect timeout");
      }
      if (respond.has_value()) {
        return Fail(Reason::kTimeout, "no response within " + InSeconds(limits.response) +
                                          " after the request was sent");
      }
    }
  }
  return *head_;
}

std::optional<Exchange::Pending> Exchange::TakeFittingPendingLocked() {
  if (!pending_.has_value() || pending_->bytes.size() > kBufferBytes) {
    return std::nullopt;
  }
  buffer_.append(pending_->bytes);
  return std::exchange(pending_, std::nullopt);
}

void Exchange::GatherLocked(const std::stop_token& stop) {
  // The wait is in real time, whatever clock the request has, because it only saves thread
  // switches.
  base::Clock& real = base::Clock::Real();
  const base::TimePoint until = real.Now() + kShortWait;
  wake_at_ = kGatherBytes;
  while (buffer_.size() < kGatherBytes && !pending_.has_value() && !ended_) {
    reading_ = true;
    if (real.WaitUntil(mu_, changed_, stop, until) != base::Wake::kNotified) {
      break;
    }
  }
  reading_ = false;
  wake_at_ = 1;
}

base::Wake Exchange::WaitForBytesLocked(const std::stop_token& stop, base::TimePoint deadline) {
  if (buffer_.capacity() > kQuietBytes || taken_.capacity() > kQuietBytes) {
    // The wait is in real time, for the same reason. When the deadline's clock has another time,
    // the buffers are freed at once.
    base::Clock& real = base::Clock::Real();
    const base::Wake wake =
        real.WaitUntil(mu_, changed_, stop, std::min(deadline, real.Now() + kQuiet));
    if (wake != base::Wake::kTimeout) {
      return wake;
    }
    if (buffer_.empty()) {
      buffer_.shrink_to_fit();
    }
    taken_.shrink_to_fit();
    if (HasBytesLocked() || ended_) {
      return base::Wake::kNotified;
    }
  }
  return clock_.WaitUntil(mu_, changed_, stop, deadline);
}

Result<bool> Exchange::Read(HttpCall::Sink sink, const std::stop_token& stop,
                            base::TimePoint deadline) {
  std::optional<Pending> released;
  std::optional<Pending> moved;
  {
    base::MutexLock lock(mu_);
    if (short_waits_ >= kShortWaits && buffer_.size() < kGatherBytes) {
      GatherLocked(stop);
    }
    const base::TimePoint begin = base::Clock::Real().Now();
    while (!HasBytesLocked()) {
      if (stop.stop_requested()) {
        return Fail(Reason::kCancelled, "stopped while reading the response");
      }
      if (failure_.has_value()) {
        return Fail(failure_->status);
      }
      if (ended_) {
        return false;
      }
      reading_ = true;
      const base::Wake wake = WaitForBytesLocked(stop, deadline);
      reading_ = false;
      if (wake == base::Wake::kTimeout && !HasBytesLocked() && !ended_) {
        return Fail(Reason::kUnavailable, "nothing arrived within the idle timeout");
      }
    }
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "stopped while reading the response");
    }
    const bool is_short = base::Clock::Real().Now() - begin < kShortWait;
    short_waits_ = is_short ? std::min(short_waits_ + 1, kMostShortWaits) : short_waits_ / 2;
    taken_.swap(buffer_);
    buffer_.clear();
    if (taken_.empty()) {
      released = std::exchange(pending_,
                               // The block is too large for the buffer, so it is handed over
                               // without a copy.
                               std::nullopt);
    } else {
      moved = TakeFittingPendingLocked();
    }
  }
  if (moved.has_value()) {
    moved->done.set(moved->bytes.size());
  }
  const Result<void> accepted =
      sink(released.has_value() ? released->bytes : std::string_view(taken_));
  if (released.has_value()) {
    released->done.set(released->bytes.size());
  }
  WipeAndClear(taken_);
  if (!accepted) {
    return Fail(accepted.error());
  }
  return true;
}

bool Exchange::lost_connection() {
  base::MutexLock lock(mu_);
  return failure_.has_value() && failure_->lost_connection;
}

bool Exchange::failed() {
  base::MutexLock lock(mu_);
  return failure_.has_value();
}

bool Exchange::Close() {
  std::optional<Pending> released;
  bool under_way = false;
  {
    base::MutexLock lock(mu_);
    under_way = !closed_ && !ended_;
    closed_ = true;
    released = std::exchange(pending_, std::nullopt);
    WipeAndClear(buffer_);
  }
  if (released.has_value()) {
    released->done.set(released->bytes.size());
  }
  return under_way;
}

BodyStreambuf::BodyStreambuf(std::shared_ptr<Exchange> exchange)
    : streambuf_state_manager<std::uint8_t>(std::ios_base::out), exchange_(std::move(exchange)) {}

bool BodyStreambuf::acquire(std::uint8_t*& ptr, std::size_t& count) {
  ptr = nullptr;
  count = 0;
  return false;
}

pplx::task<BodyStreambuf::int_type> BodyStreambuf::_putc(std::uint8_t c) {
  // cpprestsdk never calls this for a response body. A single byte fits, or waits like any block.
  auto copy = std::make_shared<std::uint8_t>(c);
  return exchange_->Put(copy.get(), 1).then([copy](std::size_t) {
    return static_cast<int_type>(*copy);
  });
}

pplx::task<std::size_t> BodyStreambuf::_putn(const std::uint8_t* ptr, std::size_t count) {
  // A body may hold Secrets. cpprestsdk keeps its buffer until the connection is closed, even after
  // the bytes were consumed. Nobody reads the consumed bytes again, and the memory is on
  // cpprestsdk's own heap, so it may be wiped.
  const auto wipe = [ptr, count] { explicit_bzero(const_cast<std::uint8_t*>(ptr), count); };
  pplx::task<std::size_t> taken = exchange_->Put(ptr, count);
  if (!taken.is_done()) {
    return taken.then([wipe](std::size_t size) {
      wipe();
      return size;
    });
  }
  wipe();
  return taken;
}

}  // namespace kubexx::rest::internal
