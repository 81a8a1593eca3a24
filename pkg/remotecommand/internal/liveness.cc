#include "kubexx/remotecommand/internal/liveness.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "kubexx/base/after.h"

namespace kubexx::remotecommand::internal {

void Liveness::BeginRead(base::TimePoint now) {
  reading_ = true;
  heard_ = now;
  progress_ = now;
}

void Liveness::BeginWrite(base::TimePoint now) {
  ++begun_;
  progress_ = now;
}

void Liveness::EndWrite() { written_ = begun_; }

void Liveness::OnPong(std::string_view text) {
  std::uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc()) {
    taken_ = std::max(taken_, std::min(number, written_));
  }
}

const char* Liveness::WhyGivenUp(base::TimePoint now, const TcpState& state) {
  if (std::exchange(waiting_, state.waiting) != state.waiting) {
    progress_ = now;
  }
  if (held_up_ == HeldUpInput::kWaits && taken_ < begun_) {
    // Its pongs wait behind the input.
    return state.IsGone(limits_.silence) ? "the server's machine does not answer" : nullptr;
  }
  if (reading_ && now > base::After(heard_, limits_.silence)) {
    return "the server does not answer pings";
  }
  if (reading_ && written_ < begun_ && now > base::After(progress_, limits_.write)) {
    return "the server accepts no more input";
  }
  return nullptr;
}

}  // namespace kubexx::remotecommand::internal
