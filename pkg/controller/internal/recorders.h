/// @file
/// A manager's event recorders.
#ifndef KUBEXX_CONTROLLER_INTERNAL_RECORDERS_H_
#define KUBEXX_CONTROLLER_INTERNAL_RECORDERS_H_

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/events/recorder.h"
#include "kubexx/events/series_recorder.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::controller::internal {

/// Makes recorders on demand, one for each component. Thread-safe.
class Recorders {
 public:
  /// Writes Events with `client`. `registry` must outlive the recorders.
  Recorders(std::shared_ptr<rest::RESTClient> client, base::Clock& clock,
            metrics::Registry& registry)
      : client_(std::move(client)), clock_(clock), registry_(registry) {}

  /// Throws std::system_error when there is no thread for a new recorder.
  std::shared_ptr<events::Recorder> For(const std::string& component);
  /// Writes the queued Events of all recorders of `all` at the same time, within one
  /// RecorderOptions::flush_limit. Nothing is recorded afterwards.
  static void StopAll(std::span<Recorders* const> all);
  /// Does the same for this object's recorders.
  void Stop() {
    Recorders* const self = this;
    StopAll({&self, 1});
  }

 private:
  std::vector<std::shared_ptr<events::SeriesRecorder>> Close();

  const std::shared_ptr<rest::RESTClient> client_;
  base::Clock& clock_;
  metrics::Registry& registry_;
  base::Mutex mu_;
  std::map<std::string, std::shared_ptr<events::SeriesRecorder>> recorders_ KX_GUARDED_BY(mu_);
  bool stopped_ KX_GUARDED_BY(mu_) = false;
};

/// A recorder that makes the real recorder, and with it a thread, only when an Event is recorded.
/// Thread-safe.
class LazyRecorder final : public events::Recorder {
 public:
  /// Each Record calls `get`, on its caller's thread.
  explicit LazyRecorder(std::function<std::shared_ptr<events::Recorder>()> get)
      : get_(std::move(get)) {}
  void Record(events::Occurrence occurrence) override { get_()->Record(std::move(occurrence)); }

 private:
  const std::function<std::shared_ptr<events::Recorder>()> get_;
};

/// Records changes of the leader as Events of the Lease, as the component "leader-election".
class LeaseTransitions final : public leaderelection::TransitionRecorder {
 public:
  explicit LeaseTransitions(Recorders& recorders) : recorders_(recorders) {}
  void Record(const api::core::v1::ObjectReference& lease, std::string_view reason,
              std::string_view message) override;

 private:
  Recorders& recorders_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_RECORDERS_H_
