// Starts and stops the threads and tasks of an InformerCore.
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/cache/internal/informer/informer_core.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

InformerCore::~InformerCore() {
  if (OnOwnThread()) {
    logging::Error(
        "An informer is destroyed by one of its own handlers, for which its destructor would wait; "
        "keep the informer until the handler has returned",
        {{"informer", options_.name}});
    std::terminate();
  }
  Stop();
  listeners_->Close();
}

void InformerCore::Start() {
  if (OnOwnThread()) {
    if (StopRequested()) {
      logging::Error("An informer that stops cannot be started by one of its own handlers",
                     {{"informer", options_.name}});
    }
    return;
  }
  base::MutexLock lifecycle(lifecycle_mu_);
  if (IsRetired()) {
    logging::Error("An informer that was removed cannot be started; ask its factory for a new one",
                   {{"informer", options_.name}});
    return;
  }
  std::stop_source stop;
  if (is_started_) {
    if (!StopRequested()) {
      return;
    }
    Join();
  }
  executor_->Start();
  queue_.Open();
  is_started_ = true;
  base::Duration resync_check{0};
  try {
    {
      base::MutexLock lock(mu_);
      running_ = true;
      stop_ = stop;
      started_ = options_.clock.Now();
      unsynced_ = {namespaces_.begin(), namespaces_.end()};
      unread_ = unsynced_;
      errors_.clear();
      synced_ = unsynced_.empty();
      resync_check = resync_check_;
      // The lock is held, so that a stop that is requested from now on finds the handlers running:
      // they do not look at `stop`.
      listeners_->SetBounded(true);
      listeners_->Start();
    }
    StartThreads(stop.get_token(), resync_check);
  } catch (...) {
    // Undoes this Start, so that the next one starts the informer.
    RequestStop();
    Join();
    throw;
  }
}

void InformerCore::StartThreads(const std::stop_token& stop, base::Duration resync_check) {
  AttachWaiting();
  distribution_.Start();
  distribution_.Wake();  // a handler may have been added meanwhile
  for (const auto& feed : feeds_) {
    // One of the reflectors keeps the time of the resyncs for all of them.
    feed->reflector.SetResyncPeriod(feed == feeds_.front() ? resync_check : base::Duration::zero());
    StartReflector(*feed, stop);
  }
}

void InformerCore::StartReflector(Feed& feed, const std::stop_token& stop) {
  if (feed.reflector.CanRunAsTask()) {
    const auto task = std::make_shared<ReflectorTask>(feed.reflector, executor_);
    {
      const base::MutexLock lock(mu_);
      reflector_tasks_.push_back(task);
    }
    task->Start(stop);
    return;
  }
  feed.thread.emplace([this, &reflector = feed.reflector, stop] {
    RunOwn([&reflector, &stop] { reflector.Run(stop); });
  });
}

void InformerCore::RunOwn(base::FunctionRef<void()> run) {
  const std::thread::id me = std::this_thread::get_id();
  {
    base::MutexLock lock(mu_);
    own_threads_.insert(me);
  }
  run();
  base::MutexLock lock(mu_);
  own_threads_.erase(me);
}

bool InformerCore::StopRequested() const {
  base::MutexLock lock(mu_);
  return stop_.stop_requested();
}

bool InformerCore::OnOwnThread() const {
  if (distribution_.IsCurrent()) {
    return true;
  }
  {
    base::MutexLock lock(mu_);
    if (own_threads_.contains(std::this_thread::get_id()) ||
        std::ranges::any_of(reflector_tasks_, &ReflectorTask::IsCurrent)) {
      return true;
    }
  }
  return listeners_->OnOwnThread();
}

void InformerCore::RequestStop() {
  std::stop_source stop(std::nostopstate);
  {
    base::MutexLock lock(mu_);
    if (!running_) {
      return;
    }
    stop = stop_;
    // The lock is held, so that all of this is done to one run: a Start may follow at once. The
    // deltas that are being distributed are finished, whatever the handlers do, because the
    // handlers must get every change that the store has.
    // must get.
    listeners_->SetBounded(false);
    queue_.Close();
    listeners_->RequestStop();
  }
  // The lock is released, because the stop calls functions that sources have registered.
  stop.request_stop();
}

void InformerCore::Stop() {
  RequestStop();
  if (OnOwnThread()) {
    return;  // a thread cannot wait for itself
  }
  const base::Executor::Waiting waiting;  // the caller may be a handler of another informer
  base::MutexLock lifecycle(lifecycle_mu_);
  RequestStop();  // again, because a Start may just have begun
  Join();
}

bool InformerCore::IsRetired() const {
  const base::MutexLock lock(mu_);
  return retired_;
}

void InformerCore::Retire() {
  {
    const base::MutexLock lock(mu_);
    retired_ = true;
    synced_changed_.notify_all();  // nobody who waits for the first list would get it any more
  }
  std::string names;
  for (const auto& listeners : {listeners_->All(), listeners_->Awaited()}) {
    for (const auto& listener : listeners) {
      if (!listener->closed()) {
        names += (names.empty() ? "" : ", ") + listener->name();
      }
    }
  }
  if (!names.empty()) {
    logging::Warning("A removed informer has handlers, which get no more events",
                     {{"informer", options_.name}, {"handlers", names}});
  }
  Stop();
}

bool InformerCore::HasEnded() const {
  {
    const base::MutexLock lock(mu_);
    if (!own_threads_.empty() || !std::ranges::all_of(reflector_tasks_, &ReflectorTask::HasEnded)) {
      return false;
    }
  }
  return !distribution_.IsRunning() && !listeners_->HasRunning();
}

// When the system had too few threads for a Start, some of these are missing.
void InformerCore::Join() {
  for (const auto& feed : feeds_) {
    feed->thread.reset();
  }
  std::vector<std::shared_ptr<ReflectorTask>> tasks;
  {
    const base::MutexLock lock(mu_);
    tasks = reflector_tasks_;
  }
  for (const auto& task : tasks) {
    task->Stop();  // until then OnOwnThread knows it as one of the informer's own
  }
  {
    const base::MutexLock lock(mu_);
    reflector_tasks_.clear();
  }
  distribution_.Stop();
  is_started_ = false;
  {
    base::MutexLock lock(mu_);
    running_ = false;
  }
  listeners_->Stop();
}

}  // namespace kubexx::cache
