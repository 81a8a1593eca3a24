#include "kubexx/apiserver/endpoints/store/waiting_storage.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/request/current_request.h"
#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;

/// How long a request keeps its handler thread without an answer of the store. It is much longer
/// than a write of a healthy etcd.
constexpr base::Duration kPatience = std::chrono::milliseconds(100);
/// A request with so long a body does not leave its thread to others.
constexpr std::size_t kLargeBytes = 64 << 10;

/// Whether the store has said something about the request.
bool IsAnswer(const apimachinery::Status& status) {
  return status.reason != Reason::kCancelled && status.reason != Reason::kTimeout &&
         status.reason != Reason::kUnavailable;
}

}  // namespace

/// One call of a request, from its begin to its end.
class WaitingStorage::CallUnderWay {
 public:
  CallUnderWay(WaitingStorage& owner, const CurrentRequest& current, const std::stop_token& stop)
      : owner_(owner),
        request_(current.request()),
        deadline_(current.deadline()),
        gives_way_(request_.body.size() < kLargeBytes),
        on_stop_(stop, [this] { source_.request_stop(); }) {
    const base::TimePoint now = base::Clock::Real().Now();
    base::MutexLock lock(owner_.mu_);
    since_ = now;
    if (owner_.silent_ && gives_way_) {
      waiting_.emplace(request_);
      may_be_made_ = waiting_->Check();
    }
    place_ = owner_.calls_.insert(owner_.calls_.end(), this);
    owner_.LookAtLocked(std::min(since_ + kPatience, deadline_));
  }
  ~CallUnderWay() {
    base::MutexLock lock(owner_.mu_);
    owner_.calls_.erase(place_);
    waiting_.reset();
  }
  CallUnderWay(const CallUnderWay&) = delete;
  CallUnderWay& operator=(const CallUnderWay&) = delete;

  /// Returns kTooManyRequests for a call that must not be made.
  const Result<void>& may_be_made() const { return may_be_made_; }
  std::stop_token token() const { return source_.get_token(); }

  /// The store has answered in part, and the caller's thread goes on with that.
  void Works() {
    base::MutexLock lock(owner_.mu_);
    since_ = base::TimePoint::max();
    waiting_.reset();
    owner_.silent_ = false;
  }
  /// The thread asks for the next part.
  void Asks() {
    const base::TimePoint now = base::Clock::Real().Now();
    base::MutexLock lock(owner_.mu_);
    since_ = now;
    owner_.LookAtLocked(std::min(since_ + kPatience, deadline_));
  }

  /// Returns whether the deadline is over.
  bool expired() const {
    base::MutexLock lock(owner_.mu_);
    return expired_;
  }

  // The owner's thread calls these.

  /// Does what is due, and returns the time at which more may be. Adds a call to stop to `over`,
  /// as what is called then may need locks.
  base::TimePoint LookLocked(base::TimePoint now, std::vector<std::stop_source>& over)
      KX_REQUIRES(owner_.mu_) {
    base::TimePoint next = base::TimePoint::max();
    if (since_ != base::TimePoint::max() && !waiting_ && gives_way_) {
      if (now - since_ >= kPatience) {
        owner_.silent_ = true;
        waiting_.emplace(request_);
        if (!waiting_->Check()) {
          waiting_.reset();
          since_ = now;  // one of those that wait may end
        }
      }
      next = waiting_ ? next : since_ + kPatience;
    }
    if (!expired_ && now >= deadline_) {
      expired_ = true;
      over.push_back(source_);
    }
    return expired_ ? next : std::min(next, deadline_);
  }

 private:
  WaitingStorage& owner_;
  const http::Request& request_;
  const base::TimePoint deadline_;
  const bool gives_way_;
  std::stop_source source_;
  const std::stop_callback<std::function<void()>> on_stop_;
  Result<void> may_be_made_{};
  std::list<CallUnderWay*>::iterator place_{};
  /// When the thread has begun to ask; TimePoint::max() while it works.
  base::TimePoint since_ KX_GUARDED_BY(owner_.mu_){};
  std::optional<http::Waiting> waiting_ KX_GUARDED_BY(owner_.mu_){};
  bool expired_ KX_GUARDED_BY(owner_.mu_) = false;
};

WaitingStorage::WaitingStorage(storage::Storage& storage)
    : storage_(storage), thread_([this](const std::stop_token& stop) { LookAfterCalls(stop); }) {}

WaitingStorage::~WaitingStorage() = default;

void WaitingStorage::LookAtLocked(base::TimePoint due) {
  if (due < next_look_) {
    next_look_ = due;
    changed_.notify_one();
  }
}

void WaitingStorage::LookAfterCalls(const std::stop_token& stop) {
  base::Clock& clock = base::Clock::Real();
  while (!stop.stop_requested()) {
    std::vector<std::stop_source> over;
    {
      base::MutexLock lock(mu_);
      const base::TimePoint now = clock.Now();
      next_look_ = base::TimePoint::max();
      for (CallUnderWay* const call : calls_) {
        next_look_ = std::min(next_look_, call->LookLocked(now, over));
      }
      if (over.empty()) {
        clock.WaitUntil(mu_, changed_, stop, next_look_);
      }
    }
    for (std::stop_source& call : over) {
      call.request_stop();
    }
  }
}

void WaitingStorage::NoteAnswer() {
  base::MutexLock lock(mu_);
  silent_ = false;
}

template <class T, class Function>
WaitingStorage::Result<T> WaitingStorage::Make(const std::stop_token& stop, Function call) {
  const CurrentRequest* const current = CurrentRequest::Get();
  if (current == nullptr) {
    return call(stop, nullptr);
  }
  CallUnderWay under_way(*this, *current, stop);
  KX_RETURN_IF_ERROR(under_way.may_be_made());
  Result<T> result = call(under_way.token(), &under_way);
  if (result || IsAnswer(result.error())) {
    NoteAnswer();
  } else if (result.error().reason == Reason::kCancelled && under_way.expired()) {
    return Fail(Reason::kTimeout,
                "Timeout: request did not complete within requested timeout, as the store has not "
                "answered",
                504);
  }
  return result;
}

WaitingStorage::Result<storage::KeyValue> WaitingStorage::Get(std::string_view key,
                                                              storage::Revision revision,
                                                              std::stop_token stop) {
  return Make<storage::KeyValue>(stop, [&](std::stop_token own, CallUnderWay*) {
    return storage_.Get(key, revision, std::move(own));
  });
}

WaitingStorage::Result<storage::KeyValue> WaitingStorage::Create(std::string_view key,
                                                                 std::string value,
                                                                 std::stop_token stop) {
  return Make<storage::KeyValue>(stop, [&](std::stop_token own, CallUnderWay*) {
    return storage_.Create(key, std::move(value), std::move(own));
  });
}

WaitingStorage::Result<storage::Swap> WaitingStorage::CompareAndSwap(std::string_view key,
                                                                     storage::Revision expected,
                                                                     std::string value,
                                                                     std::stop_token stop) {
  return Make<storage::Swap>(stop, [&](std::stop_token own, CallUnderWay*) {
    return storage_.CompareAndSwap(key, expected, std::move(value), std::move(own));
  });
}

WaitingStorage::Result<storage::Deleted> WaitingStorage::Delete(std::string_view key,
                                                                storage::Revision expected,
                                                                std::stop_token stop) {
  return Make<storage::Deleted>(stop, [&](std::stop_token own, CallUnderWay*) {
    return storage_.Delete(key, expected, std::move(own));
  });
}

WaitingStorage::Result<storage::ListResult> WaitingStorage::GetList(
    std::string_view prefix, const storage::ListOptions& options, ItemSink sink,
    std::stop_token stop) {
  return Make<storage::ListResult>(stop, [&](std::stop_token own, CallUnderWay* call) {
    return storage_.GetList(
        prefix, options,
        [&](storage::KeyValue&& item) -> Result<void> {
          if (call != nullptr) {
            call->Works();
          }
          Result<void> taken = sink(std::move(item));
          if (call != nullptr) {
            call->Asks();
          }
          return taken;
        },
        std::move(own));
  });
}

WaitingStorage::Result<std::int64_t> WaitingStorage::Count(std::string_view prefix,
                                                           std::stop_token stop) {
  return Make<std::int64_t>(stop, [&](std::stop_token own, CallUnderWay*) {
    return storage_.Count(prefix, std::move(own));
  });
}

WaitingStorage::Result<storage::Revision> WaitingStorage::CurrentRevision(std::stop_token stop) {
  return Make<storage::Revision>(stop, [&](std::stop_token own, CallUnderWay*) {
    return storage_.CurrentRevision(std::move(own));
  });
}

WaitingStorage::Result<void> WaitingStorage::Watch(std::string_view prefix,
                                                   const storage::WatchOptions& options,
                                                   EventSink sink, std::stop_token stop) {
  return Make<void>(stop, [&](std::stop_token own, CallUnderWay* call) {
    return storage_.Watch(
        prefix, options,
        [&](std::shared_ptr<const storage::Event> event) -> Result<void> {
          if (call != nullptr) {
            call->Works();
          }
          Result<void> taken = sink(std::move(event));
          if (call != nullptr) {
            call->Asks();
          }
          return taken;
        },
        std::move(own));
  });
}

WaitingStorage::Result<void> WaitingStorage::Compact(storage::Revision revision,
                                                     std::stop_token stop) {
  return storage_.Compact(revision, std::move(stop));
}

storage::StorageHealth WaitingStorage::CheckHealth(base::Duration timeout, std::stop_token stop) {
  const CurrentRequest* const current = CurrentRequest::Get();
  if (current == nullptr) {
    return storage_.CheckHealth(timeout, std::move(stop));
  }
  const CallUnderWay under_way(*this, *current, stop);
  const Result<void>& may = under_way.may_be_made();
  return may ? storage_.CheckHealth(timeout, under_way.token())
             : storage::StorageHealth{.reads = may, .writes = may};
}

}  // namespace kubexx::apiserver
