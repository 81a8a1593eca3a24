#include "kubexx/rest/internal/http2/http2_connection.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

namespace kubexx::rest::internal {
namespace {

using State = Http2Answer::State;

// What is taken from OpenSSL at once: a record, which is what a frame has at most, too.
constexpr std::size_t kReadBytes = 16 * 1024;

// How soon somebody looks at a socket of which the kernel could not be told.
constexpr std::chrono::milliseconds kLookAgainSoon{10};

}  // namespace

Http2Connection::Http2Connection(std::unique_ptr<Connection> connection, base::Clock& clock)
    : clock_(clock), connection_(std::move(connection)), session_(clock) {}

std::expected<std::shared_ptr<Http2Connection>, Trouble> Http2Connection::Begin(
    std::unique_ptr<Connection> connection, std::shared_ptr<Poller> poller,
    const Waiting& waiting) {
  std::shared_ptr<Http2Connection> made(new Http2Connection(std::move(connection), waiting.clock));
  Http2Connection& self = *made;
  self.job_.emplace(std::move(poller), [&self] {
    const base::MutexLock lock(self.mu_);
    self.PumpLocked();
  });
  const base::MutexLock lock(self.mu_);
  self.PumpLocked();
  while (self.connection_ && !self.session_.has_settings()) {
    const base::TimePoint until =
        self.is_deaf_ ? std::min(waiting.deadline, self.NextLookLocked()) : waiting.deadline;
    const base::Wake wake = waiting.clock.WaitUntil(self.mu_, self.begun_, waiting.stop, until);
    const bool in_time = wake == base::Wake::kTimeout && waiting.clock.Now() < waiting.deadline;
    if (Trouble trouble; !in_time && Trouble::Is(wake, trouble)) {
      return std::unexpected(trouble);
    }
    self.LookLocked();
  }
  if (self.connection_) {
    return made;
  }
  // With TLS 1.3 a refused client certificate shows after the handshake, at the first read.
  return std::unexpected(
      self.tls_failed_ ? Trouble::Because("TLS handshake: " + self.failure_, false, true)
                       : Trouble::Because("the connection was closed before a response came" +
                                              (self.failure_.empty() ? "" : ": " + self.failure_),
                                          true));
}

Http2Connection::~Http2Connection() { job_.reset(); }

bool Http2Connection::Open(const HttpRequest& request, const std::string& authority,
                           Http2Stream& stream) {
  const base::MutexLock lock(mu_);
  if (!connection_ || closed_ || !session_.Submit(request, authority, stream)) {
    return false;
  }
  if (stream.secret && !secret_) {
    secret_ = true;
    connection_->WipePlaintext();
  }
  PumpLocked();
  return true;
}

void Http2Connection::Leave(Http2Stream& stream) {
  const base::MutexLock lock(mu_);
  const bool was_keeper = session_.IsKeeper(stream);
  session_.Forget(stream);
  if (stream.secret) {
    explicit_bzero(stream.body.data(), stream.body.size());
  }
  stream.tell = nullptr;
  if (was_keeper) {
    TellKeepersLocked();
  }
  if (connection_) {
    PumpLocked();
  }
}

std::expected<State, Trouble> Http2Connection::AwaitHead(Http2Stream& stream,
                                                         const Waiting& waiting) {
  const base::MutexLock lock(mu_);
  while (!stream.has_head && stream.state == State::kOpen) {
    const base::TimePoint until = std::min(waiting.deadline, NextLookLocked());
    const base::Wake wake = waiting.clock.WaitUntil(mu_, stream.changed, waiting.stop, until);
    const bool in_time = wake == base::Wake::kTimeout && waiting.clock.Now() < waiting.deadline;
    if (Trouble trouble; !in_time && !stream.has_head && Trouble::Is(wake, trouble)) {
      return std::unexpected(trouble);
    }
    LookLocked();
  }
  return stream.has_head ? State::kOpen : stream.state;
}

State Http2Connection::Take(Http2Stream& stream, std::string& piece) {
  const base::MutexLock lock(mu_);
  if (stream.body.empty() && stream.state == State::kOpen) {
    LookLocked();
  }
  piece = std::exchange(stream.body, {});
  return stream.state;
}

void Http2Connection::Took(Http2Stream& stream, std::size_t bytes) {
  const base::MutexLock lock(mu_);
  session_.Took(stream, bytes);
  WriteLocked();
  TellLocked();
}

base::Wake Http2Connection::Wait(Http2Stream& stream, const std::stop_token& stop,
                                 base::TimePoint deadline) {
  const base::MutexLock lock(mu_);
  if (!stream.body.empty() || stream.state != State::kOpen) {
    return base::Wake::kNotified;
  }
  const base::Wake wake =
      clock_.WaitUntil(mu_, stream.changed, stop, std::min(deadline, NextLookLocked()));
  LookLocked();
  return wake == base::Wake::kTimeout && clock_.Now() < deadline ? base::Wake::kNotified : wake;
}

void Http2Connection::Notify(Http2Stream& stream, std::function<void()> tell) {
  const base::MutexLock lock(mu_);
  stream.tell = std::move(tell);
}

base::TimePoint Http2Connection::Arm(Http2Stream& stream) {
  const base::MutexLock lock(mu_);
  stream.is_armed = true;
  if (!stream.body.empty() || stream.state != State::kOpen) {
    TellOne(stream);
  }
  return is_deaf_ || session_.IsKeeper(stream) ? NextLookLocked() : base::TimePoint::max();
}

bool Http2Connection::is_closing() const {
  const base::MutexLock lock(mu_);
  return !connection_ || closed_ || session_.is_closing();
}

bool Http2Connection::CloseIfUnused() {
  const base::MutexLock lock(mu_);
  closed_ = closed_ || session_.is_empty();
  return closed_;
}

std::string Http2Connection::failure() const {
  const base::MutexLock lock(mu_);
  return failure_;
}

void Http2Connection::PumpLocked() {
  ReadLocked();
  WriteLocked();
  // After a farewell, or an error that the server has been told of.
  if (connection_ && unsent_.empty() && session_.is_over()) {
    LoseLocked(session_.failure(), false);
  }
  TellLocked();
  if (connection_) {
    ArmLocked();
  }
}

void Http2Connection::ArmLocked() {
  is_deaf_ = !job_->Arm(connection_->fd(),
                        unsent_.empty() ? Poller::Interest::kRead : Poller::Interest::kBoth);
}

void Http2Connection::ReadLocked() {
  std::array<char, kReadBytes> bytes;
  while (connection_) {
    const Connection::Step step = connection_->Read(bytes.data(), bytes.size());
    if (Connection::IsWant(step.io)) {
      break;
    }
    if (step.io != Connection::Io::kDone) {
      LoseLocked(connection_->failure(), connection_->tls_failed());
    } else if (!session_.Receive({bytes.data(), step.bytes})) {
      LoseLocked(session_.failure(), false);
    }
  }
  if (secret_) {
    explicit_bzero(bytes.data(), bytes.size());
  }
}

// What cannot be sent now goes out when the socket can be written.
void Http2Connection::WriteLocked() {
  while (connection_) {
    if (unsent_.empty()) {
      unsent_ = session_.Output();
    }
    if (unsent_.empty()) {
      break;
    }
    const Connection::Step step = connection_->Write(unsent_);
    if (Connection::IsWant(step.io)) {
      break;
    }
    if (step.io == Connection::Io::kDone) {
      unsent_.remove_prefix(step.bytes);
    } else {
      LoseLocked(connection_->failure(), connection_->tls_failed());
    }
  }
  if (connection_ && !unsent_.empty()) {
    ArmLocked();
  }
}

void Http2Connection::TellLocked() {
  begun_.notify_all();
  bool has_ended = false;
  for (Http2Answer* const answer : session_.TakeChanged()) {
    auto& stream = static_cast<Http2Stream&>(*answer);
    has_ended = has_ended || stream.state != State::kOpen;
    stream.changed.notify_all();
    TellOne(stream);
  }
  if (has_ended) {
    TellKeepersLocked();  // others may have become keepers
  }
}

void Http2Connection::TellOne(Http2Stream& stream) {
  if (stream.tell && std::exchange(stream.is_armed, false)) {
    stream.tell();
  }
}

void Http2Connection::TellKeepersLocked() {
  for (Http2Answer* const keeper : session_.Keepers()) {
    TellOne(static_cast<Http2Stream&>(*keeper));
  }
}

void Http2Connection::LoseLocked(std::string why, bool tls) {
  failure_ = std::move(why);
  tls_failed_ = tls;
  unsent_ = {};
  session_.Lose();
  if (failure_.empty()) {
    failure_ = session_.last_error();
  }
  connection_.reset();
}

base::TimePoint Http2Connection::NextLookLocked() const {
  const base::TimePoint check = connection_ ? session_.NextCheck() : base::TimePoint::max();
  return is_deaf_ && connection_ ? std::min(check, clock_.Now() + kLookAgainSoon) : check;
}

void Http2Connection::LookLocked() {
  if (!connection_) {
    return;
  }
  if (is_deaf_) {
    PumpLocked();
  }
  if (!connection_ || clock_.Now() < session_.NextCheck()) {
    return;
  }
  PumpLocked();  // perhaps something has come that nobody has had the time to read
  if (!connection_) {
    return;
  }
  if (session_.CheckHealth()) {
    WriteLocked();
  } else {
    LoseLocked("the server has not answered a PING", false);
  }
  TellLocked();
}

}  // namespace kubexx::rest::internal
