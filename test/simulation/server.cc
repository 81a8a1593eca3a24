#include "server.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <utility>

namespace kubexx::simulation {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

constexpr int kWorkers = 3;

Status Gone() { return {Reason::kUnavailable, "the server closed the connection"}; }

rest::HttpHead HeadOf(const http::Response& response) {
  rest::HttpHead head{.code = response.status, .content_type = response.content_type};
  for (const auto& [name, value] : response.headers) {
    if (name == "Retry-After") {
      head.retry_after = value;
    } else if (name == "Warning") {
      head.warning = value;
    }
  }
  return head;
}

}  // namespace

Server::Server(apiserver::storage::Storage& storage, apiserver::ApiOptions options,
               Observer observer, base::Duration tick)
    : observer_(std::move(observer)),
      tick_(tick),
      reaping_(tick),
      api_(std::make_unique<apiserver::Api>(storage, std::move(options))) {
  if (const auto done = api_->Bootstrap({}); !done) {
    std::fprintf(stderr, "the server cannot begin: %s\n", done.error().ToString().c_str());
    std::abort();
  }
  for (int i = 0; i < kWorkers; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
  }
  threads_.emplace_back([this](const std::stop_token& stop) { Pump(stop); });
  threads_.emplace_back([this](const std::stop_token& stop) { Tick(stop); });
  threads_.emplace_back([this](const std::stop_token& stop) {
    while (api_->Reap(stop) || base::Clock::Real().SleepFor(reaping_, stop)) {
    }
  });
}

void Server::Kill() {
  std::vector<std::shared_ptr<WireCall>> open;
  {
    const base::MutexLock lock(mu_);
    down_ = true;
    open.swap(open_);
  }
  for (const auto& call : open) {
    call->PutFailure(Gone(), true, false);
  }
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  threads_.clear();
  std::vector<std::shared_ptr<Streaming>> streams;
  {
    const base::MutexLock lock(mu_);
    streams.swap(streams_);
    calls_.clear();
  }
  for (const auto& one : streams) {
    one->stream->Closed();
  }
  api_.reset();
}

void Server::Take(std::shared_ptr<WireCall> call) {
  {
    const base::MutexLock lock(mu_);
    if (!down_) {
      if (open_.size() >= most_open_) {
        std::erase_if(open_, [](const auto& each) { return each->closed(); });
        most_open_ = 2 * open_.size() + kFewOpen;
      }
      open_.push_back(call);
      calls_.push_back(std::move(call));
      changed_.notify_all();
      return;
    }
  }
  call->PutFailure(Gone(), true, false);
}

void Server::Look(const WireCall& call) {
  const base::MutexLock lock(mu_);
  for (const auto& one : streams_) {
    if (one->call.get() == &call) {
      one->is_due = true;
      look_ = true;
      streams_changed_.notify_all();
      return;
    }
  }
}

void Server::LookAtAll() {
  const base::MutexLock lock(mu_);
  for (const auto& one : streams_) {
    one->is_due = true;
    look_ = true;
  }
  streams_changed_.notify_all();
}

void Server::Tell(Streaming& one) {
  const base::MutexLock lock(mu_);
  one.is_due = true;
  look_ = true;
  streams_changed_.notify_all();
}

std::shared_ptr<WireCall> Server::Next(const std::stop_token& stop) {
  const base::MutexLock lock(mu_);
  while (!stop.stop_requested()) {
    if (!calls_.empty()) {
      std::shared_ptr<WireCall> call = std::move(calls_.front());
      calls_.pop_front();
      return call;
    }
    base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max());
  }
  return nullptr;
}

void Server::Work(const std::stop_token& stop) {
  while (const std::shared_ptr<WireCall> call = Next(stop)) {
    // The way here; other workers go on.
    if (!base::Clock::Real().SleepFor(call->plan().request_delay, stop) ||
        (call->closed() && !call->plan().arrives_anyway)) {
      continue;
    }
    if (observer_.begin) {
      observer_.begin(*call);
    }
    http::Request request = call->request();
    request.stop = stop;
    request.deadline = base::Clock::Real().Now() + std::chrono::seconds(60);
    http::Response response = api_->Handle(request);
    if (observer_.end) {
      observer_.end(*call, response.status);
    }
    Answer(call, std::move(response));
  }
}

void Server::Answer(const std::shared_ptr<WireCall>& call, http::Response response) {
  if (call->plan().fault == Fault::kLostAnswer) {
    call->PutFailure(Gone(), true, false);
    if (response.stream) {
      response.stream->Closed();
    }
    return;
  }
  call->PutHead(HeadOf(response));
  if (!response.stream) {
    call->PutBody(std::move(response.body));
    call->PutEnd();
    return;
  }
  const base::MutexLock lock(mu_);
  streams_.push_back(
      std::make_shared<Streaming>(Streaming{.call = call, .stream = std::move(response.stream)}));
  look_ = true;
  streams_changed_.notify_all();
}

Server::Pumped Server::PumpOne(const std::shared_ptr<Streaming>& one) {
  if (!std::exchange(one->has_begun, true)) {
    one->stream->Start([this, weak = std::weak_ptr(one)] {
      if (const auto streaming = weak.lock()) {
        Tell(*streaming);
      }
    });
  }
  if (one->call->closed()) {
    return Pumped::kHasEnded;
  }
  if (one->call->full()) {
    return Pumped::kIsFull;
  }
  std::vector<http::BodyStream::Chunk> chunks;
  const bool more = one->stream->Take(chunks);
  for (const http::BodyStream::Chunk& chunk : chunks) {
    one->call->PutBody(*chunk);
  }
  if (!more) {
    one->call->PutEnd();
    return Pumped::kHasEnded;
  }
  return chunks.empty() || !one->call->closed() ? Pumped::kWaits : Pumped::kHasEnded;
}

std::vector<std::shared_ptr<Server::Streaming>> Server::AwaitDue(const std::stop_token& stop) {
  std::vector<std::shared_ptr<Streaming>> due;
  const base::MutexLock lock(mu_);
  while (!look_ && !stop.stop_requested()) {
    base::Clock::Real().WaitUntil(mu_, streams_changed_, stop, base::TimePoint::max());
  }
  look_ = false;
  for (const auto& one : streams_) {
    if (std::exchange(one->is_due, false)) {
      due.push_back(one);
    }
  }
  return due;
}

void Server::Pump(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const auto& one : AwaitDue(stop)) {
      const Pumped pumped = PumpOne(one);
      if (pumped == Pumped::kHasEnded) {
        one->stream->Closed();
      }
      if (pumped != Pumped::kWaits) {
        const base::MutexLock lock(mu_);
        // What is full is looked at together with whatever is due next.
        one->is_due = true;
        if (pumped == Pumped::kHasEnded) {
          std::erase(streams_, one);
        }
      }
    }
  }
}

void Server::Tick(const std::stop_token& stop) {
  while (base::Clock::Real().SleepFor(tick_, stop)) {
    api_->Tick(stop);
    const base::MutexLock lock(mu_);
    // What was full may have been read.
    if (std::ranges::any_of(streams_, [](const auto& one) { return one->is_due; })) {
      look_ = true;
      streams_changed_.notify_all();
    }
  }
}

}  // namespace kubexx::simulation
