#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

/// Returns the version in the baseline's text. There is none without Baseline::template_written.
std::uint64_t VersionIn(const Baseline& baseline, const SourceId& source) {
  return baseline.template_written ? baseline.VersionOf(source) : 0;
}

}  // namespace

std::string BaselineAfter(const Plan& plan, const std::vector<Change>& written) {
  if (plan.baseline.uid.empty()) {
    return {};
  }
  Baseline baseline = plan.baseline;
  const bool is_all = written.size() == plan.changes.size() && !plan.is_partly_unknown;
  // A first baseline describes the present pods whatever waits, because for a rollout that waits it
  // has the data from before.
  const bool is_first = !baseline.template_written;
  if (plan.template_written && (is_first || (is_all && !plan.incomplete))) {
    if (plan.has_seen_template) {
      baseline.template_written = plan.template_written;
    } else if (is_first) {
      baseline.template_written = Baseline::kNoTemplate;
    }
  }
  std::size_t size = baseline.ToString().size();
  for (const Change& change : written) {
    for (const auto& [source, digest] : change.sources) {
      const auto listed = change.keys.find(source);
      const std::string keys = listed == change.keys.end() ? std::string() : listed->second;
      const auto seen = plan.versions.find(source);
      const std::uint64_t version = seen == plan.versions.end() ? 0 : seen->second;
      const std::size_t had =
          baseline.digests.contains(source)
              ? Baseline::SizeOf(source, baseline.KeysOf(source), VersionIn(baseline, source))
              : 0;
      baseline.Set(source, digest, keys, version);
      const std::size_t takes = Baseline::SizeOf(source, keys, VersionIn(baseline, source));
      if (size + takes <= Baseline::kMaxBytes + had) {
        size = size + takes - had;
      } else {
        size -= had;
        baseline.Erase(source);
      }
    }
  }
  return baseline.ToString();
}

}  // namespace kubexx::reloader
