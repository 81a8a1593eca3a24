#include "wire_call.h"

#include <algorithm>
#include <utility>

namespace kubexx::simulation {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

/// What a connection holds before the server has to wait.
constexpr std::size_t kWindow = std::size_t{64} * 1024;

}  // namespace

void WireCall::PutLocked(Item item) {
  if (over_ || stalled_ || closed_) {
    return;
  }
  last_due_ = std::max(last_due_, base::Clock::Real().Now() + plan_.answer_delay);
  item.due = last_due_;
  over_ = item.kind == Kind::kEnd || item.kind == Kind::kFailure;
  items_.push_back(std::move(item));
  changed_.notify_all();
  if (tell_) {
    tell_();
  }
}

void WireCall::PutHead(rest::HttpHead head) {
  const base::MutexLock lock(mu_);
  PutLocked({.kind = Kind::kHead, .head = std::move(head)});
}

void WireCall::PutBody(std::string piece) {
  const base::MutexLock lock(mu_);
  const std::size_t left = plan_.bytes - std::min(plan_.bytes, bytes_);
  const bool is_last = piece.size() > left;
  if (is_last) {
    piece.resize(left);
  }
  bytes_ += piece.size();
  waiting_ += piece.size();
  if (!piece.empty()) {
    PutLocked({.kind = Kind::kBody, .text = std::move(piece)});
  }
  if (is_last && plan_.fault == Fault::kCut) {
    PutLocked({.kind = Kind::kFailure,
               .status = Status(Reason::kUnavailable, "the connection was reset")});
  } else if (is_last) {
    stalled_ = true;
  }
}

void WireCall::PutEnd() {
  const base::MutexLock lock(mu_);
  PutLocked({.kind = Kind::kEnd});
}

void WireCall::PutFailure(Status status, bool lost_connection, bool in_order) {
  const base::MutexLock lock(mu_);
  if (!in_order && !over_ && !stalled_) {
    items_.clear();
  }
  lost_ = lost_connection;
  PutLocked({.kind = Kind::kFailure, .status = std::move(status)});
}

void WireCall::Stall() {
  const base::MutexLock lock(mu_);
  stalled_ = true;
  items_.clear();
}

void WireCall::DelayUntil(base::TimePoint then) {
  const base::MutexLock lock(mu_);
  last_due_ = std::max(last_due_, then);
}

bool WireCall::closed() const {
  const base::MutexLock lock(mu_);
  return closed_ || over_;
}

bool WireCall::full() const {
  const base::MutexLock lock(mu_);
  return waiting_ > kWindow;
}

WireCall::Item* WireCall::ArrivedLocked() {
  return !items_.empty() && items_.front().due <= base::Clock::Real().Now() ? &items_.front()
                                                                            : nullptr;
}

base::TimePoint WireCall::NextLocked() const {
  return items_.empty() ? base::TimePoint::max() : items_.front().due;
}

Result<rest::HttpHead> WireCall::AwaitHead(const std::stop_token& stop,
                                           const rest::RoundTrip::Limits& limits) {
  const base::MutexLock lock(mu_);
  const bool connected = plan_.fault != Fault::kUnanswered;
  const base::TimePoint respond = !connected ? limits.connect
                                  : limits.response.count() > 0
                                      ? base::Clock::Real().Now() + limits.response
                                      : base::TimePoint::max();
  while (true) {
    if (Item* const item = ArrivedLocked()) {
      if (item->kind == Kind::kHead) {
        rest::HttpHead head = std::move(item->head);
        items_.pop_front();
        return head;
      }
      failed_ = true;
      return Fail(item->status);
    }
    const base::TimePoint deadline = std::min(respond, limits.head);
    if (base::Clock::Real().WaitUntil(mu_, changed_, stop, std::min(deadline, NextLocked())) ==
        base::Wake::kStopped) {
      return Fail(Reason::kCancelled, "stopped while waiting for the response");
    }
    if (base::Clock::Real().Now() < deadline || ArrivedLocked() != nullptr) {
      continue;
    }
    return connected ? Fail(Reason::kTimeout, "no response within the time")
                     : Fail(Reason::kUnavailable, "no connection within the connect timeout");
  }
}

Result<bool> WireCall::Read(rest::RoundTrip::Sink sink, const std::stop_token& stop,
                            base::TimePoint deadline) {
  std::optional<std::string> piece;
  {
    const base::MutexLock lock(mu_);
    while (ArrivedLocked() == nullptr) {
      if (base::Clock::Real().WaitUntil(mu_, changed_, stop, std::min(deadline, NextLocked())) ==
          base::Wake::kStopped) {
        return Fail(Reason::kCancelled, "stopped while reading the response");
      }
      if (base::Clock::Real().Now() >= deadline && ArrivedLocked() == nullptr) {
        return Fail(Reason::kUnavailable, "nothing arrived within the idle timeout");
      }
    }
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "stopped while reading the response");
    }
    KX_ASSIGN_OR_RETURN(piece, TakeLocked());
  }
  if (!piece) {
    return false;
  }
  KX_RETURN_IF_ERROR(sink(*piece));
  return true;
}

Result<std::optional<std::string>> WireCall::TakeLocked() {
  Item& item = items_.front();
  if (item.kind == Kind::kEnd) {
    return std::nullopt;
  }
  if (item.kind == Kind::kFailure) {
    failed_ = true;
    return Fail(item.status);
  }
  std::string piece = std::move(item.text);
  items_.pop_front();
  waiting_ -= piece.size();
  return piece;
}

Result<rest::StreamRead> WireCall::TryRead(rest::RoundTrip::Sink sink) {
  std::optional<std::string> piece;
  {
    const base::MutexLock lock(mu_);
    if (ArrivedLocked() == nullptr) {
      return rest::StreamRead::kNothing;
    }
    KX_ASSIGN_OR_RETURN(piece, TakeLocked());
  }
  if (!piece) {
    return rest::StreamRead::kEnd;
  }
  KX_RETURN_IF_ERROR(sink(*piece));
  return rest::StreamRead::kPiece;
}

void WireCall::Notify(std::function<void()> tell) {
  const base::MutexLock lock(mu_);
  tell_ = std::move(tell);
}

base::TimePoint WireCall::Arm() const {
  const base::MutexLock lock(mu_);
  return NextLocked();
}

void WireCall::Close() {
  const base::MutexLock lock(mu_);
  closed_ = true;
  items_.clear();
  tell_ = {};
}

bool WireCall::lost_connection() const {
  const base::MutexLock lock(mu_);
  return failed_ && lost_;
}

bool WireCall::failed() const {
  const base::MutexLock lock(mu_);
  return failed_;
}

}  // namespace kubexx::simulation
