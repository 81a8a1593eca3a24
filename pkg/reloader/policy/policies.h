/// @file
/// Reload policies in a running operator: watch, gate, status, Events.
#ifndef KUBEXX_RELOADER_POLICY_POLICIES_H_
#define KUBEXX_RELOADER_POLICY_POLICIES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/subscription.h"
#include "kubexx/events/recorder.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/policy/policy_gate.h"
#include "kubexx/reloader/policy/policy_status.h"
#include "kubexx/reloader/policy/policy_watch.h"
#include "kubexx/reloader/policy/trouble_reporter.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The event about a notice, on its workload.
events::Occurrence EventAbout(const PolicyNotice& notice);

/// Whether it warns in the log, too; else it is told there, as what is no warning is.
bool LogsAsWarning(const PolicyNotice& notice);

/// What a person is told of a notice beside that: of a failed rollout; nothing for others.
std::optional<RolloutTrouble> TroubleIn(const PolicyNotice& notice);

/// All parts that keep reload policies, put together. Thread-safe.
class Policies {
 public:
  struct Options {
    /// What the flags say.
    reloadpolicy::Settings flags{};
    /// Whether to look for policies at all; the flags hold in any case.
    bool watch = true;
    /// Where to watch ReloadPolicies; empty: everywhere.
    std::vector<std::string> namespaces{};
    /// See PolicyWatch::Options.
    bool cluster_needed = false;
    metrics::Registry* registry = nullptr;
    /// See PolicyWatch::Options.
    Refusals* refusals = nullptr;
    /// Told when Unread may be another soon; on threads of informers. Must not block.
    std::function<void()> on_unread{};
    /// Writes neither status nor Events.
    bool read_only = false;
    /// Whether this replica writes the status of the policies of a namespace ("" for those of the
    /// cluster); empty: of all.
    std::function<bool(std::string_view namespace_)> reports{};
    /// Told of rollouts that have failed, once each, have stopped or wait for long; null: nobody
    /// is. Must outlive this.
    TroubleObserver* troubles = nullptr;
  };

  /// Makes no request yet.
  Policies(std::shared_ptr<rest::RESTClient> client, const Options& options);
  /// Stop.
  ~Policies();
  Policies(const Policies&) = delete;
  Policies& operator=(const Policies&) = delete;

  /// For Operator::Options; valid as long as this.
  RolloutGate& gate() { return gate_; }
  /// Begins to watch. Once only.
  void Start();
  /// See PolicyWatch::AllUnread. After Start.
  std::map<std::string, std::string> Unread();
  /// Ends watch and status. Events are flushed, for up to a second, by the destructor.
  void Stop();

 private:
  void Notify(const PolicyNotice& notice) const;
  PolicyWatch::Options WatchOptions();

  const std::shared_ptr<rest::RESTClient> client_;
  const Options options_;
  std::unique_ptr<events::Recorder> recorder_;
  PolicyGate gate_;
  std::unique_ptr<PolicyWatch> watch_;
  std::unique_ptr<TroubleReporter> troubles_;
  std::unique_ptr<PolicyStatusWriter> status_;
  base::Subscription metrics_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICIES_H_
