/// @file
/// A proxy that does to connections what networks do at their worst.
#ifndef KUBEXX_TEST_NETWORK_HOSTILE_PROXY_H_
#define KUBEXX_TEST_NETWORK_HOSTILE_PROXY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "kubexx/base/mutex.h"

namespace kubexx::network_test {

/// What happens to a connection when so many bytes have passed in one direction.
enum class Fault : std::uint8_t {
  kNone,
  kRefuse,     ///< reset as soon as it is there
  kCut,        ///< closed on both sides
  kReset,      ///< the same by a reset
  kStall,      ///< nothing passes any more; closed when the client goes, or after a minute
  kTrickle,    ///< a byte now and then, for some seconds, then as kStall
  kHalfClose,  ///< closed in this direction only, while the other one goes on
  kSingle,     ///< each byte comes alone from then on
  kCorrupt,    ///< one bit of the next byte is another one; only where something notices that
};
const char* NameOf(Fault fault);

/// Listens on 127.0.0.1 and passes bytes on to another port there, each connection with a fault of
/// its own, sooner or later, or with what is done to all of them. A thread for each connection.
/// Thread-safe.
class HostileProxy {
 public:
  struct Plan {
    Fault fault = Fault::kNone;
    std::size_t direction = 0;  ///< 0: from the client
    std::size_t after = 0;      ///< bytes
  };

  /// Whether somebody notices when bytes are not what was sent, as TLS does.
  enum class Bytes : std::uint8_t { kPlain, kProtected };

  /// Each connection has a fault at random; kCorrupt only with kProtected.
  HostileProxy(int to_port, std::uint64_t seed, Bytes bytes = Bytes::kPlain);
  /// The first connections have these, one after the other, and all later ones have none.
  HostileProxy(int to_port, std::deque<Plan> plans);
  /// Without faults of its own.
  explicit HostileProxy(int to_port) : HostileProxy(to_port, std::deque<Plan>()) {}
  HostileProxy(const HostileProxy&) = delete;
  HostileProxy& operator=(const HostileProxy&) = delete;
  ~HostileProxy();

  int port() const { return port_; }
  /// From now on new connections have no faults, and those that are there are closed.
  void BecomeHonest();
  /// The connections that come next have these faults, those that were planned before them first.
  void Expect(const std::deque<Plan>& plans);
  /// Ends all connections that are there: kCut, kReset, or kHalfClose in one direction. Does not
  /// wait until they have ended.
  void Strike(Fault fault, std::size_t direction = 0);
  /// While it is on, no byte passes, in connections old or new. What is sent meanwhile passes
  /// later.
  void StandStill(bool on) { still_ = on; }
  /// While it is on, new connections are reset.
  void Refuse(bool on) { refusing_ = on; }
  /// Ends what was begun by the last three, forgets plans, and closes connections that stall.
  void Recover();
  /// How many connections had which fault. One that ended before is not counted.
  std::map<Fault, int> faults() const;

 private:
  class Relay;
  struct Session {
    std::shared_ptr<std::atomic<bool>> over{};
    std::jthread thread{};
  };

  void Listen();
  void Accept();
  Plan MakePlan();
  void Count(Fault fault);

  const int to_port_;
  const Bytes bytes_ = Bytes::kPlain;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> honest_ = false;
  std::atomic<bool> still_ = false;
  std::atomic<bool> refusing_ = false;
  std::atomic<int> recoveries_ = 0;
  /// How many there were, eight bits of the last one's fault, and one of its direction.
  std::atomic<std::uint64_t> strikes_ = 0;
  mutable base::Mutex mu_;
  bool stopping_ KX_GUARDED_BY(mu_) = false;
  /// Without it the faults are those of `plans_`.
  std::optional<std::mt19937_64> random_ KX_GUARDED_BY(mu_){};
  std::deque<Plan> plans_ KX_GUARDED_BY(mu_);
  std::map<Fault, int> faults_ KX_GUARDED_BY(mu_);
  std::list<Session> sessions_ KX_GUARDED_BY(mu_);
  std::jthread acceptor_;
};

}  // namespace kubexx::network_test

#endif  // KUBEXX_TEST_NETWORK_HOSTILE_PROXY_H_
