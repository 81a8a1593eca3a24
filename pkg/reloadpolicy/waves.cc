#include "kubexx/reloadpolicy/waves.h"

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloadpolicy {

std::string Waves::ToString() const {
  std::string text = canaries.empty() ? "" : "canaries, ";
  for (const WaveSize& size : sizes) {
    text += size.count > 0 ? std::to_string(size.count) : std::to_string(size.percent) + "%";
    text += ", ";
  }
  return text + "then the rest, each healthy for " +
         apimachinery::Duration{healthy_for.count()}.ToString();
}

}  // namespace kubexx::reloadpolicy
