/// @file
/// Writes what becomes of policies to their status.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_STATUS_H_
#define KUBEXX_RELOADER_POLICY_POLICY_STATUS_H_

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/events/recorder.h"
#include "kubexx/reloader/policy/policy_gate.h"
#include "kubexx/reloader/policy/policy_news.h"
#include "kubexx/reloader/policy/policy_watch.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The status that a policy should have, given the one it has: conditions keep the time at which
/// they last changed. S is the status of either kind. Pure.
template <class S>
S PolicyStatusFor(const PolicyState& state, const S& present, base::WallTime now);

/// The failed rollouts that a status names, of a policy in `namespace_`; empty: of the cluster.
template <class S>
std::vector<reloadpolicy::Remembered> FailuresIn(const S& status, const std::string& namespace_);

/// Compares the gate's figures with the policies' status at intervals, and writes those that
/// differ: however much happens in between is one write. What begins or ends with that is an Event
/// on the policy (see NewsBetween). Only while an operator is attached to the
/// gate, so that one replica writes. Its thread ends with it.
class PolicyStatusWriter {
 public:
  struct Options {
    base::Clock& clock = base::Clock::Real();
    base::Duration interval = std::chrono::seconds(1);
    /// Whether this replica writes for a namespace ("": the cluster's policies); empty: for all.
    std::function<bool(std::string_view namespace_)> reports{};
    /// Of the Events about policies; must outlive the writer. Null: there are none.
    events::Recorder* recorder = nullptr;
    /// Shown, at each look, all policies that this replica writes for; empty: nobody is.
    std::function<void(const std::vector<PolicyState>&)> observe{};
  };
  /// `gate` and `watch` must outlive this.
  PolicyStatusWriter(std::shared_ptr<rest::RESTClient> client, const PolicyGate& gate,
                     const PolicyWatch& watch, Options options);

 private:
  void Run(const std::stop_token& stop);
  void WriteAll(const std::stop_token& stop);
  template <class T>
  void Write(const PolicyState& state, const cache::SharedInformer<T>& informer,
             const std::stop_token& stop);
  /// Tells what has changed since the last time, or since `present` was written. At the second look
  /// that finds it so: what is over at once, as after a start, is no news. Whether this is the
  /// first look of all.
  template <class T, class S>
  bool Tell(const PolicyState& state, const T& object, const S& present, const S& wanted);

  const std::shared_ptr<rest::RESTClient> client_;
  const PolicyGate& gate_;
  const PolicyWatch& watch_;
  const Options options_;
  struct Failure {
    std::string error{};
    base::TimePoint again{};
  };
  /// Policies whose status could not be written. Of the thread alone.
  std::map<reloadpolicy::PolicyId, Failure> failures_;
  struct Told {
    PolicyFacts told{};
    PolicyFacts seen{};  ///< at the last look
  };
  /// Of each policy that this replica reports on. Of the thread alone.
  std::map<reloadpolicy::PolicyId, Told> told_;
  std::jthread thread_;  // last: ends before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_STATUS_H_
