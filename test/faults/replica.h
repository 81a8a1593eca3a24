/// @file
/// A process of the operator.
#ifndef KUBEXX_TEST_FAULTS_REPLICA_H_
#define KUBEXX_TEST_FAULTS_REPLICA_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "faults/child_process.h"
#include "faults/cluster.h"
#include "kubexx/base/clock.h"
#include "network/hostile_proxy.h"

namespace kubexx::faults {

/// kubexx-reloader as it is shipped, which reaches the API server through a proxy of its own. Not
/// thread-safe; all calls on one thread, which stays.
class Replica {
 public:
  /// Told of what becomes of it.
  using Tell = std::function<void(const std::string& what)>;
  struct Settings {
    std::string program{};
    std::string name{};    ///< "a"
    std::string folder{};  ///< for its kubeconfig and logs
    Tell tell{};
  };

  /// `cluster` must outlive it.
  Replica(Settings settings, const Cluster& cluster);
  ~Replica() { Kill(); }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// With these arguments, also when it starts again. No effect while it runs.
  void Start(const std::vector<std::string>& arguments);
  void StartAgain();
  void Kill();
  /// SIGTERM; does not wait.
  void Terminate();
  /// Until it has ended, after SIGTERM; kills it when that takes too long. Whether it has ended
  /// with status 0.
  bool Stop();
  /// It stands still, or goes on.
  void StandStill(bool on);
  /// Starts it again when it has ended by itself, as a kubelet would; a problem, in a sentence,
  /// when it has crashed.
  std::string Look();

  network_test::HostileProxy& proxy() { return proxy_; }
  std::string log() const { return settings_.folder + "/operator-" + settings_.name + ".log"; }
  std::uint64_t ended_by_itself() const { return ended_by_itself_; }

 private:
  /// A kubelet waits as well before it starts a container again.
  static constexpr base::Duration kRest = std::chrono::seconds(2);

  const Settings settings_;
  const Cluster& cluster_;
  network_test::HostileProxy proxy_;
  std::vector<std::string> arguments_{};
  ChildProcess process_{};
  bool wanted_ = false;       ///< it shall run
  bool terminating_ = false;  ///< it has been told to end
  std::uint64_t generation_ = 0;
  std::uint64_t ended_by_itself_ = 0;
  base::TimePoint rest_until_{};
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_REPLICA_H_
