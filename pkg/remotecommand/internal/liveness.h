/// @file
/// Liveness: whether the server of a connection is still to be counted on.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_LIVENESS_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_LIVENESS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/remotecommand/internal/tcp_state.h"

namespace kubexx::remotecommand::internal {

/// What it means when the server holds up what it is sent.
enum class HeldUpInput {
  kFails,  ///< it is broken: it takes nothing, or answers no pings, for the time of the limits
  kWaits,  ///< nothing, as long as its system answers: who is to have the input may take any time
};

/// Judges a server by what happens on its connection. It is told of everything, and asked now and
/// then. Not thread-safe.
class Liveness {
 public:
  /// How long a server may let nothing be heard, and take nothing.
  struct Limits {
    std::chrono::milliseconds silence{};
    std::chrono::milliseconds write{};
  };

  Liveness(const Limits& limits, HeldUpInput held_up, base::TimePoint now)
      : limits_(limits), held_up_(held_up), heard_(now), progress_(now) {}

  /// Something has come from the server.
  void Heard(base::TimePoint now) { heard_ = now; }

  /// Between an EndRead and the next BeginRead nothing is read from the server, which it may notice
  /// and wait for itself, so that the time of it does not count.
  void BeginRead(base::TimePoint now);
  void EndRead() { reading_ = false; }

  /// A message is written from BeginWrite to EndWrite, one at a time.
  void BeginWrite(base::TimePoint now);
  void EndWrite();

  /// What to send as a ping, which a server sends back when it has taken what came before it.
  std::string PingText() const { return std::to_string(written_); }
  void OnPong(std::string_view text);

  /// Why the server is to be given up; nullptr when it is not. `state` is that of the connection.
  const char* WhyGivenUp(base::TimePoint now, const TcpState& state);

 private:
  const Limits limits_;
  const HeldUpInput held_up_;
  base::TimePoint heard_;
  /// When the server's system was last seen to take something.
  base::TimePoint progress_;
  int waiting_ = 0;  ///< TcpState's, at the last look
  bool reading_ = false;
  // Of the messages: how many have been begun, written, and taken by the server.
  std::uint64_t begun_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_LIVENESS_H_
