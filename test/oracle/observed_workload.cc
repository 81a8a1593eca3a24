#include "oracle/observed_workload.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

using codec::JsonTree;

std::int64_t NumberAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  if (found != nullptr && found->AsString() != nullptr) {
    return std::atoll(found->AsString()->c_str());  // as in the status of a Rollout
  }
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// Whether a Job is over.
bool HasEnded(const JsonTree& object) {
  const JsonTree* const conditions = object.At({"status", "conditions"});
  return conditions != nullptr &&
         std::ranges::any_of(conditions->elements(), [](const JsonTree& each) {
           return (each.TextAt("type") == "Complete" || each.TextAt("type") == "Failed") &&
                  each.TextAt("status") == "True";
         });
}

/// Whether the status says that there are pods, and that none is available. A number that is 0 may
/// be left out.
bool IsCrashing(const JsonTree& object) {
  return (NumberAt(object, {"status", "replicas"}) > 0 &&
          NumberAt(object, {"status", "availableReplicas"}) == 0) ||
         (NumberAt(object, {"status", "desiredNumberScheduled"}) > 0 &&
          NumberAt(object, {"status", "numberAvailable"}) == 0);
}

}  // namespace

void ObservedWorkload::Take(const JsonTree& object) {
  generation = NumberAt(object, {"metadata", "generation"});
  observed = NumberAt(object, {"status", "observedGeneration"});
  replicas = NumberAt(object, {"spec", "replicas"});
  const JsonTree* const pause = object.At({"spec", "paused"});
  is_paused = pause != nullptr && pause->AsBool().value_or(false);
  const JsonTree* const metadata = object.Find("metadata");
  uid = metadata == nullptr ? "" : metadata->TextAt("uid");
  const JsonTree* const there = object.At({"metadata", "annotations"});
  const auto at = [there](std::string_view key) {
    return there == nullptr ? std::string() : std::string(there->TextAt(key));
  };
  annotations = there == nullptr ? "{}" : there->ToJson();
  mark = at(kMarkAnnotation);
  is_held = at(kHeldAnnotation) == "true";
  is_unrecorded = at(reloader::kRecordBaseline) == "false";
  baseline = at(reloader::kBaselineAnnotation);
  history = at(reloader::kHistoryAnnotation);
  rolled_data = at(reloadpolicy::kRolledDataAnnotation);
  is_crashing = IsCrashing(object);
  has_ended = HasEnded(object);
  template_written = TemplateWrittenIn(object);
  own_written = OwnWrittenIn(object);
  undone = UndoneIn(object);
  if (uid.empty() || (!IsBaselineOf(baseline, uid) && !IsMadeWithBaseline(baseline, object))) {
    baseline.clear();  // that of another object, which somebody has copied
  }
  is_by_key = at(reloader::kSourceKeys) == "Referenced";
  const bool was_opted_out =
      std::exchange(is_opted_out, at(reloader::AnnotationKeys().auto_reload) == "false");
  // On a workload the annotation has the name that it has on a source.
  const bool was_on_hold = std::exchange(is_on_hold, at(reloader::kSourcePaused) == "true");
  if (was_opted_out != is_opted_out || was_on_hold != is_on_hold) {
    was_asked_for = true;
    was_held = was_held || is_on_hold;
    is_undone = false;
    ++reasons;  // what changed meanwhile is made up for
  }
}

void ObservedWorkload::TakeSources(const std::string& key, const JsonTree& pod) {
  const std::size_t begin = key.find('/') + 1;
  read.clear();
  const std::string space = key.substr(begin, key.find('/', begin) - begin);
  for (std::string& source : SourcesOf(pod, space, is_by_key)) {
    read[std::move(source)];
  }
}

}  // namespace kubexx::oracle
