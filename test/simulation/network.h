/// @file
/// The virtual network between clients and the API server, and what goes wrong in it.
#ifndef KUBEXX_TEST_SIMULATION_NETWORK_H_
#define KUBEXX_TEST_SIMULATION_NETWORK_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/round_tripper.h"
#include "oracle/random.h"
#include "scheduler.h"
#include "server.h"
#include "wire_call.h"
#include "without.h"

namespace kubexx::simulation {

/// For lines and counters.
std::string_view ToString(Fault fault);

/// Of a thousand requests, how many meet each fault.
using FaultRates = std::array<std::uint16_t, kFaults>;

/// No time at which anything happened.
inline constexpr Nanoseconds kNotYet = 0;

/// Carries requests to the server that is there at the time. Thread-safe.
class Network {
 public:
  /// Sees each request of a client; for what must never be in one.
  using Inspect = std::function<void(const std::string& client, const rest::HttpRequest& request)>;

  Network(oracle::Random random, Inspect inspect) : inspect_(std::move(inspect)), random_(random) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// For the Config of a client. Without `faulty` nothing is done to its requests, but that they
  /// take a while. Must not be used after the network.
  std::shared_ptr<rest::RoundTripper> ConnectionsOf(std::string client, bool faulty);

  /// None of these faults happens from the next SetRates and AimAtWrites on; by Fault, a bit each.
  void Leave(std::uint64_t without);
  /// From now on, of requests that begin then.
  void SetRates(const FaultRates& rates);
  /// The same of writes of workloads alone, of which so many of a thousand meet this one besides.
  void AimAtWrites(Fault fault, std::uint16_t per_mille);
  /// Null: nobody listens. The server must stay until another is set and its calls have ended.
  void SetServer(std::shared_ptr<Server> server);
  /// All connections of the client stand still for ever, and new ones do not come about, until
  /// Reconnect.
  void Disconnect(const std::string& client);
  /// All connections of the client end, and new ones are refused, until Reconnect.
  void Refuse(const std::string& client);
  void Reconnect(const std::string& client);
  /// Of this client, requests for Leases from now on get no answer, or, with `answers`, one that
  /// tells of the server's trouble. Empty: of no client.
  void HoldUpLeases(std::string client, bool answers);
  /// Nothing arrives any more of the watches of this type that operators have now, and nobody is
  /// told.
  void StallWatches(std::string_view plural);
  /// What the watches of this type that operators have now tell from now on arrives then.
  void DelayWatches(std::string_view plural, base::TimePoint then);
  /// The client's process has ended: so do its connections, as the server sees it.
  void EndClient(const std::string& client);

  std::array<std::uint64_t, kFaults> faults() const;
  /// When the fault met a request the last time, by the Scheduler's time; kNotYet: it has not. For
  /// any thread, without a lock.
  Nanoseconds LastOf(Fault fault) const { return last_[static_cast<std::size_t>(fault)]; }

 private:
  class Connections;
  class Trip;

  std::shared_ptr<WireCall> Start(const std::string& client, bool faulty,
                                  const rest::HttpRequest& request);
  WireCall::Plan PlanLocked(const std::string& client, bool faulty,
                            const rest::HttpRequest& request) KX_REQUIRES(mu_);
  std::shared_ptr<Server> CurrentServer();
  std::vector<std::shared_ptr<WireCall>> OperatorWatchesLocked(std::string_view plural)
      KX_REQUIRES(mu_);

  const Inspect inspect_;
  mutable base::Mutex mu_;
  oracle::Random random_ KX_GUARDED_BY(mu_);
  std::uint64_t without_ KX_GUARDED_BY(mu_) = 0;
  FaultRates rates_ KX_GUARDED_BY(mu_){};
  Fault aimed_ KX_GUARDED_BY(mu_) = Fault::kNone;
  std::uint16_t aimed_rate_ KX_GUARDED_BY(mu_) = 0;
  std::array<std::uint64_t, kFaults> counts_ KX_GUARDED_BY(mu_){};
  std::array<std::atomic<Nanoseconds>, kFaults> last_{};
  std::shared_ptr<Server> server_ KX_GUARDED_BY(mu_);
  std::string without_leases_ KX_GUARDED_BY(mu_);  ///< see HoldUpLeases
  Fault lease_fault_ KX_GUARDED_BY(mu_) = Fault::kNone;
  std::set<std::string> disconnected_ KX_GUARDED_BY(mu_);
  std::set<std::string> refused_ KX_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<WireCall>> calls_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_NETWORK_H_
