// What an Oracle makes of each version of a workload.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <utility>

#include "kubexx/reloader/model/annotations.h"
#include "oracle.h"

namespace kubexx::simulation {
namespace {

using codec::JsonTree;

/// What operators write into a template.
constexpr std::string_view kVariables = "STAKATER_";
constexpr std::string_view kReloadedFrom = "reloader.stakater.com/last-reloaded-from";
constexpr std::array<std::string_view, 2> kStamps = {kReloadedFrom,
                                                     "reloader.kubexx.io/restarted-for"};

/// Of the Jobs by which operators roll a CronJob.
constexpr std::string_view kRolledFor = "kubexx.io/rolled-for";
/// For so long a list may not have come that is due after a watch.
constexpr Nanoseconds kGap = 15 * kMinute;

constexpr std::size_t kMostFormers = 4;
/// Longer than a plan is on its way as a write when nothing goes wrong; less than a settle window.
constexpr Nanoseconds kOnTheWay = 60'000'000;
/// Longer than a request of a process that was killed is on its way.
constexpr Nanoseconds kLastWords = 10 * kSecond;

/// The template without what operators write there.
std::string OthersPartOf(JsonTree pod_template) {
  if (JsonTree* const containers =
          pod_template.At(std::array<std::string_view, 2>{"spec", "containers"})) {
    for (JsonTree& container : containers->elements()) {
      JsonTree kept = JsonTree::Array();
      if (const JsonTree* const env = container.Find("env")) {
        for (const JsonTree& each : env->elements()) {
          if (!each.TextAt("name").starts_with(kVariables)) {
            kept.Append(each);
          }
        }
      }
      container["env"] = std::move(kept);
    }
  }
  if (JsonTree* const metadata = pod_template.Find("metadata")) {
    JsonTree& annotations = (*metadata)["annotations"];
    for (const std::string_view key : kStamps) {
      annotations.Erase(key);
    }
    if (annotations.size() == 0) {
      metadata->Erase("annotations");
    }
  }
  return pod_template.ToJson();
}

std::int64_t NumberAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// What a template says of the data that it was rolled for.
std::string StampsIn(const JsonTree& pod_template) {
  std::string stamps;
  const JsonTree* const containers = pod_template.At({"spec", "containers"});
  for (const JsonTree& container :
       containers == nullptr ? std::span<const JsonTree>() : containers->elements()) {
    const JsonTree* const env = container.Find("env");
    for (const JsonTree& each : env == nullptr ? std::span<const JsonTree>() : env->elements()) {
      if (each.TextAt("name").starts_with(kVariables)) {
        stamps.append(each.TextAt("name")).append("=").append(each.TextAt("value")).append(" ");
      }
    }
  }
  const JsonTree* const from = pod_template.At({"metadata", "annotations", kReloadedFrom});
  if (from != nullptr && from->AsString() != nullptr) {
    if (const auto tree = JsonTree::Parse(*from->AsString())) {
      stamps.append(tree->TextAt("type")).append("/").append(tree->TextAt("name"));
      stamps.append("=").append(tree->TextAt("hash"));  // the time is another each time
    }
  }
  return stamps;
}

/// What a baseline says of data: without the version, and whose it is.
std::string_view DigestsIn(std::string_view baseline) {
  for (int i = 0; i < 2; ++i) {
    const std::size_t space = baseline.find(' ');
    baseline.remove_prefix(space == std::string_view::npos ? baseline.size() : space + 1);
  }
  return baseline;
}

}  // namespace

void Oracle::FindSources(Workload& workload, const std::string& key, const JsonTree& pod) {
  const std::size_t begin = key.find('/') + 1;
  const std::string space = key.substr(begin, key.find('/', begin) - begin);
  workload.read.clear();
  const JsonTree* const containers = pod.At({"spec", "containers"});
  if (containers == nullptr) {
    return;
  }
  for (const JsonTree& container : containers->elements()) {
    const JsonTree* const from = container.Find("envFrom");
    for (const JsonTree& each : from == nullptr ? std::span<const JsonTree>() : from->elements()) {
      const JsonTree* const config = each.Find("configMapRef");
      const JsonTree* const secret = each.Find("secretRef");
      if (config != nullptr) {
        workload.read["configmaps/" + space + "/" + std::string(config->TextAt("name"))];
      } else if (secret != nullptr) {
        workload.read["secrets/" + space + "/" + std::string(secret->TextAt("name"))];
      }
    }
  }
}

void Oracle::ReadLocked(Workload& workload) {
  for (auto& [source, data] : workload.read) {
    const auto there = data_.find(source);
    data = there == data_.end() ? std::nullopt : std::optional(there->second);
  }
}

bool Oracle::HasPresentData(const Workload& workload) const {
  return std::ranges::all_of(workload.read, [this](const auto& each) {
    const auto there = data_.find(each.first);
    return there == data_.end() ? !each.second : each.second == there->second;
  });
}

void Oracle::ReadStatus(Workload& workload, const JsonTree& object) {
  workload.generation = NumberAt(object, {"metadata", "generation"});
  workload.observed = NumberAt(object, {"status", "observedGeneration"});
  workload.replicas = NumberAt(object, {"spec", "replicas"});
  const JsonTree* const paused = object.At({"spec", "paused"});
  workload.is_paused = paused != nullptr && paused->AsBool().value_or(false);
}

void Oracle::ReadAnnotations(Workload& workload, const JsonTree& object) {
  const JsonTree* const annotations = object.At({"metadata", "annotations"});
  const JsonTree* const metadata = object.Find("metadata");
  workload.uid = metadata == nullptr ? "" : metadata->TextAt("uid");
  const auto at = [annotations](std::string_view key) {
    return annotations == nullptr ? std::string() : std::string(annotations->TextAt(key));
  };
  workload.annotations = annotations == nullptr ? "{}" : annotations->ToJson();
  workload.mark = at(kMarkAnnotation);
  workload.is_held = at(kHeldAnnotation) == "true";
  workload.is_unrecorded = at(reloader::kRecordBaseline) == "false";
  workload.baseline = at(reloader::kBaselineAnnotation);
  if (workload.uid.empty() || !workload.baseline.starts_with("v1 " + workload.uid)) {
    workload.baseline.clear();  // that of another object, which somebody has copied
  }
  const bool was_opted_out =
      std::exchange(workload.is_opted_out, at(reloader::AnnotationKeys().auto_reload) == "false");
  if (was_opted_out != workload.is_opted_out) {
    workload.was_asked_for = true;
    ++workload.reasons;  // what changed meanwhile is made up for
  }
}

void Oracle::KeepFormer(Workload& workload, Former former) {
  std::erase_if(workload.formers,
                [&former](const Former& each) { return each.pod_template == former.pod_template; });
  workload.formers.push_back(std::move(former));
  if (workload.formers.size() > kMostFormers) {
    workload.formers.pop_front();
  }
}

std::string Oracle::Needless(const Workload& workload, const Workload& before,
                             const std::string& stamps) const {
  const Nanoseconds now = timeline_.now();
  if (now - before.blind < kMinute) {
    return "";
  }
  if (before.is_opted_out) {
    return "though its people have opted out";
  }
  if (before.is_mixed || !HasPresentData(before)) {
    return "";
  }
  const bool is_recorded_anew =
      !before.baseline.empty() && DigestsIn(before.baseline) != DigestsIn(workload.baseline);
  if (!stamps.empty() && before.stamps == stamps && !is_recorded_anew) {
    return "again for data that its pods have";
  }
  if (!before.is_of_others) {
    return "";
  }
  if (!before.is_data_new && !before.was_stamped && !before.was_held &&
      before.made + kLastWords < oldest_operator_) {
    return "though nothing has changed since it was made, before any operator began";
  }
  if (strict_ && !before.was_asked_for && before.data_since < before.template_since &&
      now - before.template_since > kOnTheWay) {
    return "for data that its pods began with, as operators must have seen";
  }
  return "";
}

std::string Oracle::UnderWayBeside(const std::string& key) const {
  const auto space_of = [](const std::string& name) {
    const std::size_t begin = name.find('/') + 1;
    return std::string_view(name).substr(begin, name.find('/', begin) - begin);
  };
  const auto found = std::ranges::find_if(workloads_, [&](const auto& each) {
    const auto& [name, workload] = each;
    return name != key && space_of(name) == space_of(key) && !workload.is_of_others &&
           !workload.is_paused && workload.observed < workload.rolled_generation;
  });
  return found == workloads_.end() ? std::string() : found->first;
}

void Oracle::OnWorkloadLocked(const std::string& key, JsonTree object) {
  const JsonTree* const pod = object.At({"spec", "template"});
  const auto [found, is_new] = workloads_.try_emplace(key);
  Workload& workload = found->second;
  const Workload before = workload;
  ReadStatus(workload, object);
  ReadAnnotations(workload, object);
  changed_.notify_all();
  if (before.is_paused && before.is_held && workload.is_held && !workload.is_paused && !wrong_) {
    wrong_ = key + " was resumed, though its people hold it";
  }
  if (!is_new && before.baseline.empty() && !workload.baseline.empty()) {
    // What changed before an operator saw it for the first time, nobody could know of.
    ReadLocked(workload);
  }
  std::string text = pod == nullptr ? "" : pod->ToJson();
  if (pod == nullptr || workload.template_text == text) {
    return;
  }
  std::string others = OthersPartOf(*pod);
  std::string stamps = StampsIn(*pod);
  const bool by_operator = !is_new && others == before.others_text && workload.mark == before.mark;
  if (by_operator) {
    if (const std::string why = Needless(workload, before, stamps); !why.empty() && !wrong_) {
      wrong_ = key + " was rolled " + why;
    }
    if (const std::string beside = strict_ && limited_ ? UnderWayBeside(key) : "";
        !beside.empty() && !wrong_) {
      wrong_ = key + " was rolled while a rollout of " + beside + " is under way";
    }
    if (wrong_) {
      timeline_.Add("oracle", *wrong_);
    }
    workload.rolled_generation = workload.generation;
    ++workload.rolled;
    ++rollouts_;
    workload.is_mixed = false;
  } else if (!is_new) {
    // An operator that found a rollout under way at its start knows no template from before: pods
    // of any may be alive, so it makes all of them anew once when others change the template then.
    // So does one that begins after an undo of which it cannot tell what the pods began with.
    const bool was_under_way = before.observed < before.generation || before.is_paused;
    const bool is_undo = workload.mark.starts_with(kUndoMark);
    workload.reasons += (was_under_way ? 1U : 0U) + (is_undo ? 1U : 0U);
    workload.is_mixed = before.is_mixed || was_under_way || is_undo;
  }
  timeline_.Add("storage", key + (is_new        ? " is there"
                                  : by_operator ? " is rolled"
                                                : " has another template"));
  if (!is_new) {
    KeepFormer(workload, {.pod_template = before.template_text, .annotations = before.annotations});
  }
  workload.was_stamped = is_new ? !stamps.empty() : workload.was_stamped;
  workload.is_of_others = !by_operator;
  workload.template_since = timeline_.now();
  workload.template_text = std::move(text);
  workload.others_text = std::move(others);
  workload.stamps = std::move(stamps);
  // Pods that are made of it now read what there is now.
  FindSources(workload, key, *pod);
  ReadLocked(workload);
  if (is_new) {
    BeginLocked(workload);
  }
}

void Oracle::BeginLocked(Workload& workload) {
  const Nanoseconds now = timeline_.now();
  workload.made = now;
  const bool is_after_change = std::ranges::any_of(workload.read, [&](const auto& each) {
    const auto changed = changed_at_.find(each.first);
    return changed != changed_at_.end() && now - changed->second < kGap;
  });
  workload.reasons += is_after_change ? 1U : 0U;
  workload.was_held = std::ranges::any_of(
      workload.read, [this](const auto& each) { return paused_.contains(each.first); });
  if (is_restored_) {  // its pods may be newer than it is
    workload.is_mixed = true;
    workload.reasons += 2;
  }
}

// A change of its template starts nothing.
void Oracle::OnCronJobLocked(const std::string& key, const JsonTree& object) {
  const auto [found, is_new] = workloads_.try_emplace(key);
  Workload& workload = found->second;
  const bool had_baseline = !workload.baseline.empty();
  ReadAnnotations(workload, object);
  const JsonTree* const pod = object.At({"spec", "jobTemplate", "spec", "template"});
  if (is_new && pod != nullptr) {
    FindSources(workload, key, *pod);
    ReadLocked(workload);
    BeginLocked(workload);
    timeline_.Add("storage", key + " is there");
  } else if (!had_baseline && !workload.baseline.empty()) {
    ReadLocked(workload);
  }
}

// One that rolls a CronJob has the data of its beginning.
void Oracle::OnJobLocked(const std::string& key, const JsonTree& object) {
  const JsonTree* const owners = object.At({"metadata", "ownerReferences"});
  if (!jobs_.insert(key).second || owners == nullptr || owners->elements().empty() ||
      object.At({"metadata", "annotations", kRolledFor}) == nullptr) {
    return;
  }
  const JsonTree& owner = owners->elements().front();
  const std::size_t begin = key.find('/');
  const auto found = workloads_.find("cronjobs" + key.substr(begin, key.rfind('/') + 1 - begin) +
                                     std::string(owner.TextAt("name")));
  if (found != workloads_.end() && found->second.uid == owner.TextAt("uid")) {
    ++found->second.rolled;
    ++rollouts_;
    ReadLocked(found->second);
    timeline_.Add("storage", found->first + " is run as " + key);
  }
}

}  // namespace kubexx::simulation
