/// @file
/// One request on the virtual network.
#ifndef KUBEXX_TEST_SIMULATION_WIRE_CALL_H_
#define KUBEXX_TEST_SIMULATION_WIRE_CALL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/message.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::simulation {

/// What the network, or a proxy in it, does to a request.
enum class Fault : std::uint8_t {
  kNone,
  kRefused,      ///< no connection; the server does not see the request
  kUnanswered,   ///< no connection comes about, and nobody says so
  kLostRequest,  ///< the connection ends before the server has seen the request
  kLostAnswer,   ///< the connection ends before the answer, which was made
  kStalled,      ///< the answer begins and stops, and the connection stays
  kCut,          ///< the connection ends within the answer
  kLate,         ///< what is sent takes up to minutes
  kServerError,  ///< 500 from somebody on the way
  kUnavailable,  ///< 503
  kTooMany,      ///< 429 with Retry-After
  kTooManyBare,  ///< 429 without
  kConflict,     ///< 409 to a write
  kExpired,      ///< 410 to a list or watch
};
inline constexpr std::size_t kFaults = 14;

/// A request and what comes back, in order, each piece at its time. The client's thread reads;
/// the server's threads put. Thread-safe.
class WireCall {
 public:
  /// What is going to happen to it.
  struct Plan {
    Fault fault = Fault::kNone;
    base::Duration request_delay{0};
    base::Duration answer_delay{0};
    /// Of the body's bytes so many arrive, with kCut and kStalled.
    std::size_t bytes = std::numeric_limits<std::size_t>::max();
    /// It is with the server's machine already: the server works on it though nobody waits for the
    /// answer any more.
    bool arrives_anyway = false;
  };

  WireCall(http::Request request, std::string client, Plan plan)
      : request_(std::move(request)), client_(std::move(client)), plan_(plan) {}

  const http::Request& request() const { return request_; }
  const std::string& client() const { return client_; }
  const Plan& plan() const { return plan_; }
  base::TimePoint sent_at() const { return sent_at_; }
  /// For the server's thread that works on it: why it should not be made.
  void Suspect(std::string why) { suspicion_ = std::move(why); }
  const std::string& suspicion() const { return suspicion_; }

  // The server's side.
  void PutHead(rest::HttpHead head);
  void PutBody(std::string piece);
  void PutEnd();
  /// Everything that has not been read is lost, too, unless `in_order`.
  void PutFailure(apimachinery::Status status, bool lost_connection, bool in_order);
  /// Nothing arrives any more, and nobody is told.
  void Stall();
  /// What is put from now on arrives then, or later.
  void DelayUntil(base::TimePoint then);
  /// Nobody reads any more.
  bool closed() const;
  /// Enough is under way: the rest is to wait until the client has read.
  bool full() const;

  // The client's side.
  apimachinery::Result<rest::HttpHead> AwaitHead(const std::stop_token& stop,
                                                 const rest::RoundTrip::Limits& limits);
  apimachinery::Result<bool> Read(rest::RoundTrip::Sink sink, const std::stop_token& stop,
                                  base::TimePoint deadline);
  apimachinery::Result<rest::StreamRead> TryRead(rest::RoundTrip::Sink sink);
  void Notify(std::function<void()> tell);
  /// When to look, for nobody tells when an item is due.
  base::TimePoint Arm() const;
  void Close();
  bool lost_connection() const;
  bool failed() const;

 private:
  enum class Kind : std::uint8_t { kHead, kBody, kEnd, kFailure };
  struct Item {
    Kind kind = Kind::kHead;
    base::TimePoint due{};
    rest::HttpHead head{};
    std::string text{};
    apimachinery::Status status{};
  };

  void PutLocked(Item item) KX_REQUIRES(mu_);
  /// The text of the item that has arrived, or nothing at the end.
  apimachinery::Result<std::optional<std::string>> TakeLocked() KX_REQUIRES(mu_);
  /// The first item, if it has arrived.
  Item* ArrivedLocked() KX_REQUIRES(mu_);
  base::TimePoint NextLocked() const KX_REQUIRES(mu_);

  const http::Request request_;
  const std::string client_;
  const Plan plan_;
  const base::TimePoint sent_at_ = base::Clock::Real().Now();
  std::string suspicion_{};
  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::function<void()> tell_ KX_GUARDED_BY(mu_);
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  base::TimePoint last_due_ KX_GUARDED_BY(mu_){};
  std::size_t bytes_ KX_GUARDED_BY(mu_) = 0;    ///< of the body that were put
  std::size_t waiting_ KX_GUARDED_BY(mu_) = 0;  ///< of them, not yet read
  bool stalled_ KX_GUARDED_BY(mu_) = false;
  bool over_ KX_GUARDED_BY(mu_) = false;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  bool lost_ KX_GUARDED_BY(mu_) = false;
  bool failed_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_WIRE_CALL_H_
