#include "server.h"

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
  {
    const base::MutexLock lock(mu_);
    streams_.splice(streams_.end(), new_streams_);
    calls_.clear();
  }
  for (Streaming& one : streams_) {
    one.stream->Closed();
  }
  streams_.clear();
  api_.reset();
}

void Server::Take(std::shared_ptr<WireCall> call) {
  {
    const base::MutexLock lock(mu_);
    if (!down_) {
      std::erase_if(open_, [](const auto& each) { return each->closed(); });
      open_.push_back(call);
      calls_.push_back(std::move(call));
      changed_.notify_all();
      return;
    }
  }
  call->PutFailure(Gone(), true, false);
}

void Server::Look() {
  const base::MutexLock lock(mu_);
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
  new_streams_.push_back({.call = call,
                          .stream = std::move(response.stream),
                          .ready = std::make_shared<std::atomic<bool>>(true)});
  look_ = true;
  streams_changed_.notify_all();
}

bool Server::PumpOne(Streaming& one) {
  if (one.call->closed()) {
    return false;
  }
  if (one.call->full() || !one.ready->exchange(false)) {
    return true;
  }
  std::vector<http::BodyStream::Chunk> chunks;
  const bool more = one.stream->Take(chunks);
  for (const http::BodyStream::Chunk& chunk : chunks) {
    one.call->PutBody(*chunk);
  }
  if (!more) {
    one.call->PutEnd();
  }
  return more;
}

void Server::Pump(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::list<Streaming> begun;
    {
      const base::MutexLock lock(mu_);
      while (!look_ && !stop.stop_requested()) {
        base::Clock::Real().WaitUntil(mu_, streams_changed_, stop, base::TimePoint::max());
      }
      look_ = false;
      begun.swap(new_streams_);
    }
    for (Streaming& one : begun) {
      one.stream->Start([this, ready = one.ready] {
        ready->store(true);
        Look();
      });
    }
    streams_.splice(streams_.end(), begun);
    for (auto one = streams_.begin(); one != streams_.end();) {
      if (PumpOne(*one)) {
        ++one;
      } else {
        one->stream->Closed();
        one = streams_.erase(one);
      }
    }
  }
}

void Server::Tick(const std::stop_token& stop) {
  while (base::Clock::Real().SleepFor(tick_, stop)) {
    api_->Tick(stop);
    Look();  // What was full may have been read.
  }
}

}  // namespace kubexx::simulation
