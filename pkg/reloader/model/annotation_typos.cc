#include "kubexx/reloader/model/annotation_typos.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloader/model/rollout_phase.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "kubexx/reloadpolicy/rollout_record.h"
#include "kubexx/reloadpolicy/waves.h"

namespace kubexx::reloader {
namespace {

/// What people set on workloads.
constexpr std::string_view kSetByPeople[] = {
    kSourcePaused,
    kSourceKeys,
    kReloadOn,
    kReloadOnOtherNamespaces,
    kAllowedNamespaces,
    kRecordBaseline,
    kRunSuspended,
    kReloadInPlace,
    kReloadContainer,
    "reloader.kubexx.io/reload-in-place-on-refusal",
    reloadpolicy::kCanaryAnnotation,
    "reloader.kubexx.io/settle-window",
    "reloader.kubexx.io/min-interval",
    "reloader.kubexx.io/health-timeout",
    "reloader.kubexx.io/maintenance-windows",
    "reloader.kubexx.io/order",
};

/// What operators write, some of it in earlier versions.
constexpr std::string_view kSetByOperators[] = {
    kBaselineAnnotation,
    kHistoryAnnotation,
    kRestartedFor,
    kKeeperOf,
    kReloadingInPlace,
    "reloader.kubexx.io/recreated-job",
    "reloader.kubexx.io/template-generation",
    "reloader.kubexx.io/status-before",
    reloadpolicy::kLastRolloutAnnotation,
    reloadpolicy::kRolloutStateAnnotation,
    reloadpolicy::kRolledDataAnnotation,
    kRestoredAnnotation,
    kRestoredFromAnnotation,
};

constexpr std::size_t kMostMistakes = 2;
/// A shorter name would be like too many others.
constexpr std::size_t kLettersForEachMistake = 3;

/// How many letters have to be added, removed, replaced, or exchanged with their neighbour, to make
/// one text of the other.
std::size_t MistakesBetween(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1,
                              least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least[a.size()][b.size()];
}

}  // namespace

std::string_view MeantAnnotation(std::string_view key) {
  constexpr std::size_t kPrefix = reloadpolicy::kAnnotationPrefix.size();
  if (!key.starts_with(reloadpolicy::kAnnotationPrefix) ||
      std::ranges::find(kSetByPeople, key) != std::end(kSetByPeople) ||
      std::ranges::find(kSetByOperators, key) != std::end(kSetByOperators)) {
    return {};
  }
  const std::string_view name = key.substr(kPrefix);
  std::string_view meant;
  std::size_t fewest = kMostMistakes + 1;
  for (const std::string_view each : kSetByPeople) {
    const std::string_view known = each.substr(kPrefix);
    // Names of labels and annotations may be long, but those that are like ours are not.
    if (name.size() > known.size() + kMostMistakes || known.size() > name.size() + kMostMistakes) {
      continue;
    }
    const std::size_t mistakes = MistakesBetween(name, known);
    if (mistakes < fewest && mistakes * kLettersForEachMistake <= known.size()) {
      fewest = mistakes;
      meant = each;
    }
  }
  return meant;
}

}  // namespace kubexx::reloader
