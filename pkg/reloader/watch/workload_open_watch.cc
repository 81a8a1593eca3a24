// Implements the watches of a WorkloadListWatch that are read without waiting.
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "kubexx/cache/watch/followed_watch.h"
#include "kubexx/reloader/watch/workload_list_watch.h"

namespace kubexx::reloader {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Result;
using cache::OpenWatch;

/// Does in steps what WorkloadListWatch::Watch does for a watch without initial events: it watches
/// while that is permitted, and otherwise waits until a list is requested.
class WorkloadListWatch::DemandedWatch final : public OpenWatch {
 public:
  /// `inner` is null when the watch has been refused.
  DemandedWatch(WorkloadListWatch& owner, const ListOptions& options, std::stop_token stop,
                std::unique_ptr<OpenWatch> inner)
      : owner_(owner),
        options_(options),
        stop_(std::move(stop)),
        list_at_(owner.NextListTime()),
        inner_(std::move(inner)) {}
  DemandedWatch(const DemandedWatch&) = delete;
  DemandedWatch& operator=(const DemandedWatch&) = delete;
  ~DemandedWatch() override { owner_.Notify({}); }

  Result<Found> Read(EventSink sink) override {
    if (inner_) {
      auto found = inner_->Read(sink);
      return found && *found != Found::kEnd
                 ? found
                 : InnerHasEnded(found ? Result<void>() : Result<void>(Fail(found.error())));
    }
    const Demand demand = owner_.DemandNow(list_at_);
    if (!demand.next) {
      look_at_ = demand.until;
      return Found::kNothing;
    }
    if (*demand.next == Next::kList) {
      return EndedAs(owner_.ListIsDue());
    }
    is_probe_ = true;
    owner_.BeginProbe();
    auto tried = owner_.TryStartWatch(options_, stop_);
    if (!tried) {
      return InnerHasEnded(Fail(tried.error()));
    }
    inner_ = *std::move(tried);
    inner_->Notify(tell_);
    return Found::kSome;
  }

  void Notify(std::function<void()> tell) override {
    tell_ = tell;
    if (inner_) {
      inner_->Notify(tell);
    }
    owner_.Notify(std::move(tell));
  }

  base::TimePoint Arm() override { return inner_ ? inner_->Arm() : look_at_; }

 private:
  static Result<Found> EndedAs(const Result<void>& result) {
    return result ? Result<Found>(Found::kEnd) : Result<Found>(Fail(result.error()));
  }

  Result<Found> InnerHasEnded(const Result<void>& result) {
    inner_.reset();
    if (is_probe_) {
      if (const auto told = owner_.ProbeHasEnded(result)) {
        return EndedAs(*told);
      }
    } else if (owner_.mode() == Mode::kWatched) {
      return EndedAs(result);
    }
    list_at_ = owner_.NextListTime();
    return Found::kSome;
  }

  WorkloadListWatch& owner_;
  const ListOptions options_;
  const std::stop_token stop_;
  base::TimePoint list_at_;
  base::TimePoint look_at_ = base::TimePoint::max();
  bool is_probe_ = false;
  std::function<void()> tell_{};
  std::unique_ptr<OpenWatch> inner_;
};

Result<std::unique_ptr<OpenWatch>> WorkloadListWatch::TryStartWatch(const ListOptions& options,
                                                                    const std::stop_token& stop) {
  auto watch = inner_->StartWatch(options, stop);
  if (!watch) {
    return Fail(WatchHasEnded(Fail(watch.error())).error());
  }
  return std::make_unique<cache::FollowedWatch>(
      *std::move(watch),
      [this, granted = false](cache::WatchEvent&& event, EventSink sink) mutable {
        return Pass(std::move(event), sink, granted);
      },
      [this](Result<void> result) { return WatchHasEnded(std::move(result)); });
}

Result<std::unique_ptr<OpenWatch>> WorkloadListWatch::StartWatch(const ListOptions& options,
                                                                 std::stop_token stop) {
  if (options.send_initial_events.value_or(false)) {
    KX_RETURN_IF_ERROR(BeginInitialWatch(stop));
    auto watch = TryStartWatch(options, stop);
    if (!watch) {
      return Fail(InitialWatchHasEnded(Fail(watch.error())).error());
    }
    return std::make_unique<cache::FollowedWatch>(
        *std::move(watch), cache::FollowedWatch::OnEvent{},
        [this](Result<void> result) { return InitialWatchHasEnded(std::move(result)); });
  }
  ListIsInStore();
  std::unique_ptr<OpenWatch> inner;
  if (mode() == Mode::kWatched) {
    auto watch = TryStartWatch(options, stop);
    if (!watch && mode() == Mode::kWatched) {
      return watch;
    }
    inner = watch ? *std::move(watch) : nullptr;
  }
  return std::make_unique<DemandedWatch>(*this, options, std::move(stop), std::move(inner));
}

WorkloadListWatch::Demand WorkloadListWatch::DemandNow(base::TimePoint list) const {
  const base::MutexLock lock(mu_);
  return DemandLocked(list);
}

void WorkloadListWatch::Notify(std::function<void()> tell) {
  const base::MutexLock lock(mu_);
  tell_ = std::move(tell);
}

}  // namespace kubexx::reloader
