#include "kubexx/reloadpolicy/waves.h"

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloadpolicy {

std::string_view ToString(OnWaveFailure on_failure) {
  return on_failure == OnWaveFailure::kRestore ? "Restore" : "Hold";
}

std::optional<OnWaveFailure> ParseOnWaveFailure(std::string_view text) {
  for (const OnWaveFailure each : {OnWaveFailure::kHold, OnWaveFailure::kRestore}) {
    if (text == ToString(each)) {
      return each;
    }
  }
  return std::nullopt;
}

std::string Waves::ToString() const {
  std::string text = canaries.empty() ? "" : "canaries, ";
  for (const WaveSize& size : sizes) {
    text += size.count > 0 ? std::to_string(size.count) : std::to_string(size.percent) + "%";
    text += ", ";
  }
  return text + "then the rest, each healthy for " +
         apimachinery::Duration{healthy_for.count()}.ToString() + (Restores() ? ", restores" : "");
}

}  // namespace kubexx::reloadpolicy
