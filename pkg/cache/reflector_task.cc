#include "kubexx/cache/reflector_task.h"

#include <atomic>
#include <functional>
#include <optional>
#include <utility>

#include "kubexx/base/executor/alarms.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/cache/internal/reflector/reflector_pass.h"

namespace kubexx::cache {

/// Objects that notify the task hold a weak pointer to this.
class ReflectorTask::Impl {
 public:
  Impl(Reflector& reflector, std::shared_ptr<base::Executor> executor)
      : pass_(std::in_place, reflector, stop_.get_token()),
        task_(executor, [this] { return Step(); }),
        alarm_(executor->AlarmsOf(reflector.options_.clock), task_) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() = default;

  void Start(std::function<void()> tell, const std::stop_token& parent) {
    tell_ = std::move(tell);
    task_.Start();
    task_.Wake();
    on_parent_.emplace(parent, [this] { RequestStop(); });
  }
  void Stop() {
    RequestStop();
    task_.Stop();
  }
  // Is called when no step runs any more.
  void End() {
    on_parent_.reset();
    pass_.reset();
  }
  void Wake() { task_.Wake(); }
  bool IsCurrent() const { return task_.IsCurrent(); }
  bool HasEnded() const { return has_ended_ || (stop_.stop_requested() && !task_.IsRunning()); }

 private:
  void RequestStop() {
    stop_.request_stop();
    task_.Wake();
  }

  bool Step() {
    if (stop_.stop_requested()) {
      pass_.reset();  // closes the connection
      alarm_.Set(base::TimePoint::max());
      has_ended_ = true;
      return false;
    }
    const Reflector::Pass::Turn turn = pass_->StepOn(tell_);
    if (!turn.more) {
      alarm_.Set(turn.at);
    }
    return turn.more || stop_.stop_requested();
  }

  std::stop_source stop_;
  std::atomic<bool> has_ended_ = false;
  std::function<void()> tell_{};
  std::optional<Reflector::Pass> pass_;  ///< of the steps
  base::OrderedTask task_;
  base::Alarm alarm_;
  std::optional<std::stop_callback<std::function<void()>>> on_parent_{};
};

ReflectorTask::ReflectorTask(Reflector& reflector, std::shared_ptr<base::Executor> executor)
    : impl_(std::make_shared<Impl>(reflector, std::move(executor))) {}

void ReflectorTask::Start(const std::stop_token& stop) {
  impl_->Start(
      [weak = std::weak_ptr(impl_)] {
        if (const std::shared_ptr<Impl> impl = weak.lock()) {
          impl->Wake();
        }
      },
      stop);
}

ReflectorTask::~ReflectorTask() {
  impl_->Stop();
  impl_->End();
}

void ReflectorTask::Stop() { impl_->Stop(); }

bool ReflectorTask::IsCurrent() const { return impl_->IsCurrent(); }

bool ReflectorTask::HasEnded() const { return impl_->HasEnded(); }

}  // namespace kubexx::cache
