#include "kubexx/reloadpolicy/policy.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/internal/quoted.h"
#include "kubexx/reloadpolicy/key_list.h"

namespace kubexx::reloadpolicy {
namespace {

using apimachinery::Fail;
using apimachinery::OrEmpty;
using apimachinery::Reason;
using apimachinery::Result;
using internal::Quoted;
using std::chrono::hours;
using std::chrono::seconds;

constexpr base::Duration kLongestSettleWindow = hours(1);
constexpr base::Duration kShortestHealthTimeout = seconds(1);
constexpr std::size_t kMostWaves = 16;
constexpr std::size_t kMostCanaries = 64;
constexpr std::size_t kMostRestoredSecrets = 64;
constexpr int kMaxOrder = 1000;

bool AnyMatches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return MatchesPattern(pattern, text); });
}

/// Reads fields into settings, and reports the fields that it cannot read.
class Reader {
 public:
  explicit Reader(std::vector<std::string>& problems) : problems_(problems) {}

  void Duration(std::string_view field, std::string_view text,
                std::pair<base::Duration, base::Duration> range,
                std::optional<base::Duration>& target) {
    if (auto value = ParseDuration(text, range.first, range.second)) {
      target = *value;
    } else {
      Problem(field, value.error().message);
    }
  }
  void Positive(std::string_view field, std::int64_t value, std::optional<int>& target) {
    if (value >= 1 && value <= 1'000'000) {
      target = static_cast<int>(value);
    } else {
      Problem(field, std::to_string(value) + " is not between 1 and 1000000");
    }
  }
  void Keys(std::string_view field, std::string_view text, std::optional<KeyScope>& target) {
    if (const auto scope = ParseKeyScope(text)) {
      target = *scope;
    } else {
      Problem(field, Quoted(text) + " is neither All nor Referenced");
    }
  }
  void Problem(std::string_view field, const std::string& what) {
    problems_.push_back(std::string(field) + ": " + what);
  }

 private:
  std::vector<std::string>& problems_;
};

template <class Spec>
void ReadTimes(const Spec& spec, Policy& policy, Reader& reader) {
  Settings& settings = policy.settings;
  if (spec.settle_window) {
    reader.Duration("spec.settleWindow", *spec.settle_window,
                    {base::Duration(0), kLongestSettleWindow}, settings.settle_window);
  }
  if (spec.min_interval) {
    reader.Duration("spec.minInterval", *spec.min_interval,
                    {base::Duration(0), Effective::kLongestMinInterval}, settings.min_interval);
  }
  if (spec.health_gate) {
    settings.health_gate = spec.health_gate->enabled.value_or(true);
    if (spec.health_gate->timeout) {
      reader.Duration("spec.healthGate.timeout", *spec.health_gate->timeout,
                      {kShortestHealthTimeout, Effective::kLongestHealthTimeout},
                      settings.health_timeout);
    }
    if (spec.health_gate->soak_time) {
      reader.Duration("spec.healthGate.soakTime", *spec.health_gate->soak_time,
                      {base::Duration(0), Effective::kLongestSoakTime}, settings.soak_time);
    }
  }
  const auto& windows_of_spec = OrEmpty(spec.maintenance_windows);
  for (std::size_t i = 0; i < windows_of_spec.size(); ++i) {
    const auto& item = windows_of_spec[i];
    auto window =
        MaintenanceWindow::Parse(item.schedule, item.duration, item.time_zone.value_or(""));
    // When windows are specified but none of them is readable, rollouts wait, because that is the
    // safe choice.
    auto& windows = settings.windows ? *settings.windows : settings.windows.emplace();
    if (window) {
      windows.push_back(*std::move(window));
    } else {
      reader.Problem("spec.maintenanceWindows[" + std::to_string(i) + "]", window.error().message);
    }
  }
  if (settings.windows && settings.windows->empty()) {
    reader.Problem(
        "spec.maintenanceWindows",
        "none can be read, so ALL rollouts under this policy wait until one can be read");
  }
}

/// Reads what to do when a rollout has failed in a wave.
template <class SpecWaves>
void ReadOnFailure(const SpecWaves& spec, Waves& waves, Reader& reader) {
  if (spec.on_failure) {
    if (const auto on_failure = ParseOnWaveFailure(*spec.on_failure)) {
      waves.on_failure = *on_failure;
    } else {
      reader.Problem("spec.waves.onFailure",
                     Quoted(*spec.on_failure) + " is neither Hold nor Restore, so it is Hold");
    }
  }
  waves.restore_secrets = OrEmpty(spec.restore_secrets);
  if (!waves.restore_secrets.empty() && !waves.Restores()) {
    reader.Problem("spec.waves.restoreSecrets", "has no effect without onFailure Restore");
    waves.restore_secrets.clear();
  }
  if (waves.restore_secrets.size() > kMostRestoredSecrets) {
    reader.Problem("spec.waves.restoreSecrets",
                   "has more than 64 names; the others are not restored");
    waves.restore_secrets.resize(kMostRestoredSecrets);
  }
}

template <class Spec>
void ReadWaves(const Spec& spec, Policy& policy, Reader& reader) {
  if (!spec.waves) {
    return;
  }
  Waves waves;
  waves.canaries = OrEmpty(spec.waves->canaries);
  const auto& sizes = OrEmpty(spec.waves->sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t count = sizes[i].count.value_or(0);
    const std::int64_t percent = sizes[i].percent.value_or(0);
    if (sizes[i].count.has_value() == sizes[i].percent.has_value()) {
      reader.Problem("spec.waves.sizes[" + std::to_string(i) + "]",
                     "must have either a count or a percent");
    } else if (count < 0 || count > 1'000'000 || percent < 0 || percent > 100 ||
               count + percent == 0) {
      reader.Problem("spec.waves.sizes[" + std::to_string(i) + "]",
                     std::to_string(count + percent) + " is not between 1 and " +
                         (sizes[i].count ? "1000000" : "100"));
    } else {
      waves.sizes.push_back({static_cast<int>(count), static_cast<int>(percent)});
    }
  }
  if (waves.sizes.size() > kMostWaves || waves.canaries.size() > kMostCanaries) {
    reader.Problem("spec.waves", "has more than 16 sizes or 64 canaries; the others are ignored");
    waves.sizes.resize(std::min(waves.sizes.size(), kMostWaves));
    waves.canaries.resize(std::min(waves.canaries.size(), kMostCanaries));
  }
  if (waves.sizes.empty() && waves.canaries.empty()) {
    // Waves are wanted, and none is named or can be read: one workload at first is the careful
    // side.
    if (!OrEmpty(spec.waves->sizes).empty() || !OrEmpty(spec.waves->canaries).empty()) {
      reader.Problem("spec.waves",
                     "has no canaries and no sizes that can be read, so one workload is the first "
                     "wave");
    }
    waves.sizes.push_back({.count = 1});
  }
  std::optional<base::Duration> healthy_for;
  std::optional<base::Duration> timeout;
  if (spec.waves->healthy_for) {
    reader.Duration("spec.waves.healthyFor", *spec.waves->healthy_for,
                    {base::Duration(0), Effective::kLongestSoakTime}, healthy_for);
  }
  if (spec.waves->timeout) {
    reader.Duration("spec.waves.timeout", *spec.waves->timeout,
                    {kShortestHealthTimeout, Effective::kLongestHealthTimeout}, timeout);
  }
  waves.healthy_for = healthy_for.value_or(waves.healthy_for);
  waves.timeout = timeout.value_or(waves.timeout);
  ReadOnFailure(*spec.waves, waves, reader);
  policy.settings.waves = std::move(waves);
}

template <class Spec>
void ReadRules(const Spec& spec, Policy& policy, Reader& reader) {
  for (const auto& item : OrEmpty(spec.order)) {
    if (item.order < 0 || item.order > kMaxOrder) {
      reader.Problem("spec.order", std::to_string(item.order) + " is not between 0 and 1000");
      continue;
    }
    policy.order.push_back({item.workloads, item.order});
  }
  for (const auto& item : OrEmpty(spec.sources)) {
    const bool has_keys = item.kind == "ConfigMap" || item.kind == "Secret";
    if (!has_keys && item.kind != "SecretProviderClass") {
      reader.Problem("spec.sources", Quoted(item.kind) + " is not a kind of source");
      continue;
    }
    SourceRule rule{item.kind, item.name, item.paused.value_or(false)};
    std::vector<std::string> problems;
    if (has_keys) {
      rule.keys = KeyList(OrEmpty(item.keys), problems);
    } else if (!OrEmpty(item.keys).empty()) {
      problems.push_back("a SecretProviderClass has no keys");
    }
    for (const std::string& problem : problems) {
      reader.Problem("spec.sources[" + item.name + "].keys", problem);
    }
    policy.sources.push_back(std::move(rule));
  }
}

template <class Object>
Policy ReadCommon(const Object& object) {
  const auto& spec = object.spec;
  Policy policy{.id = {object.metadata.namespace_, object.metadata.name},
                .generation = object.metadata.generation};
  Reader reader(policy.problems);
  if (spec.workloads) {
    policy.kinds = OrEmpty(spec.workloads->kinds);
    policy.names = OrEmpty(spec.workloads->names);
  }
  policy.settings.paused = spec.paused;
  if (spec.keys) {
    reader.Keys("spec.keys", *spec.keys, policy.settings.keys);
  }
  ReadTimes(spec, policy, reader);
  if (spec.stop_after_failures) {
    reader.Positive("spec.stopAfterFailures", *spec.stop_after_failures,
                    policy.settings.stop_after_failures);
  }
  ReadWaves(spec, policy, reader);
  ReadRules(spec, policy, reader);
  return policy;
}

std::optional<bool> ParseBool(std::string_view text) {
  return text == "true"    ? std::optional(true)
         : text == "false" ? std::optional(false)
                           : std::nullopt;
}

std::optional<int> ParseOrder(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMaxOrder) {
    return std::nullopt;
  }
  return value;
}

void ReadBrake(const std::string& key, const std::string& value, Settings& settings,
               std::vector<std::string>* brakes) {
  std::string problem;
  if (key.ends_with("/paused")) {
    settings.paused = ParseBool(value);
    if (!settings.paused) {
      problem = Quoted(value) + " is neither true nor false; write \"true\" or \"false\"";
    }
  } else if (key.ends_with("/min-interval")) {
    if (const auto interval =
            ParseDuration(value, base::Duration(0), Effective::kLongestMinInterval)) {
      settings.min_interval = *interval;
    } else {
      problem = interval.error().message + "; write, for instance, \"15m\"";
    }
  } else if (key.ends_with("/order")) {
    settings.order = ParseOrder(value);
    if (!settings.order) {
      problem = Quoted(value) + " is not a number between 0 and 1000; write, for instance, \"10\"";
    }
  } else if (auto windows = MaintenanceWindow::ParseList(value); !windows) {
    problem = windows.error().message + "; write, for instance, \"0 2 * * 1-5 3h Europe/Berlin\"";
  } else if (windows->empty()) {
    problem = "names no window; write, for instance, \"0 2 * * 1-5 3h Europe/Berlin\"";
  } else {
    settings.windows = *std::move(windows);
  }
  if (!problem.empty() && brakes != nullptr) {
    brakes->push_back(key + ": " + problem + ", or remove the annotation");
  }
}

void ReadAnnotation(const std::string& key, const std::string& value, Settings& settings,
                    Reader& reader, std::vector<std::string>* brakes) {
  const std::string_view name = std::string_view(key).substr(kAnnotationPrefix.size());
  if (name == "paused" || name == "maintenance-windows" || name == "min-interval" ||
      name == "order") {
    ReadBrake(key, value, settings, brakes);
  } else if (name == "settle-window") {
    reader.Duration(key, value, {base::Duration(0), kLongestSettleWindow}, settings.settle_window);
  } else if (name == "health-timeout") {
    reader.Duration(key, value, {kShortestHealthTimeout, Effective::kLongestHealthTimeout},
                    settings.health_timeout);
  } else if (name == "keys") {
    reader.Keys(key, value, settings.keys);
  }
}

}  // namespace

bool Policy::InScope(std::string_view namespace_) const {
  if (!id.namespace_.empty()) {
    return id.namespace_ == namespace_;
  }
  return (namespaces.empty() || AnyMatches(namespaces, namespace_)) &&
         !AnyMatches(excluded_namespaces, namespace_);
}

bool Policy::Governs(const ObjectRef& workload) const {
  return InScope(workload.key.namespace_) &&
         (kinds.empty() || std::ranges::find(kinds, workload.kind) != kinds.end()) &&
         (names.empty() || AnyMatches(names, workload.key.name));
}

std::string Policy::ToString() const {
  return (id.namespace_.empty() ? "ClusterReloadPolicy " : "ReloadPolicy ") + id.ToString();
}

Policy PolicyFrom(const v1alpha1::ReloadPolicy& object) {
  Policy policy = ReadCommon(object);
  if (object.spec.max_concurrent_rollouts) {
    Reader(policy.problems)
        .Positive("spec.maxConcurrentRollouts", *object.spec.max_concurrent_rollouts,
                  policy.settings.max_in_namespace);
  }
  return policy;
}

Policy PolicyFrom(const v1alpha1::ClusterReloadPolicy& object) {
  Policy policy = ReadCommon(object);
  policy.id.namespace_.clear();
  policy.namespaces = OrEmpty(object.spec.namespaces);
  policy.excluded_namespaces = OrEmpty(object.spec.excluded_namespaces);
  policy.enforced = object.spec.enforce.value_or(false);
  Reader reader(policy.problems);
  if (object.spec.max_concurrent_rollouts) {
    reader.Positive("spec.maxConcurrentRollouts", *object.spec.max_concurrent_rollouts,
                    policy.settings.max_in_cluster);
  }
  if (object.spec.max_concurrent_rollouts_per_namespace) {
    reader.Positive("spec.maxConcurrentRolloutsPerNamespace",
                    *object.spec.max_concurrent_rollouts_per_namespace,
                    policy.settings.max_in_namespace);
  }
  return policy;
}

Settings SettingsFromAnnotations(const std::map<std::string, std::string>& annotations,
                                 std::vector<std::string>& problems,
                                 std::vector<std::string>* brakes) {
  Settings settings;
  Reader reader(problems);
  for (auto each = annotations.lower_bound(std::string(kAnnotationPrefix));
       each != annotations.end() && each->first.starts_with(kAnnotationPrefix); ++each) {
    ReadAnnotation(each->first, each->second, settings, reader, brakes);
  }
  return settings;
}

bool IsSetting(std::string_view key) {
  constexpr std::string_view kSettings[] = {"paused", "maintenance-windows", "min-interval",
                                            "order",  "settle-window",       "health-timeout",
                                            "keys"};
  return key.starts_with(kAnnotationPrefix) &&
         std::ranges::find(kSettings, key.substr(kAnnotationPrefix.size())) != std::end(kSettings);
}

std::optional<base::WallTime> RolloutTimeOf(const apimachinery::Time& time) {
  if (time.seconds < 0 || time.seconds > 7'000'000'000) {
    return std::nullopt;
  }
  return base::WallTime(seconds(time.seconds));
}

std::optional<base::WallTime> LastRolloutOf(const std::map<std::string, std::string>& annotations) {
  const auto found = annotations.find(std::string(kLastRolloutAnnotation));
  if (found == annotations.end()) {
    return std::nullopt;
  }
  const auto time = apimachinery::Time::Parse(found->second);
  return time ? RolloutTimeOf(*time) : std::nullopt;
}

Result<base::Duration> ParseDuration(std::string_view text, base::Duration low,
                                     base::Duration high) {
  const auto parsed = apimachinery::Duration::Parse(text);
  if (!parsed || base::Duration(parsed->nanos) < low || base::Duration(parsed->nanos) > high) {
    return Fail(Reason::kInvalidConfig, Quoted(text) + " is not a duration between " +
                                            apimachinery::Duration{low.count()}.ToString() +
                                            " and " +
                                            apimachinery::Duration{high.count()}.ToString());
  }
  return base::Duration(parsed->nanos);
}

bool MatchesWorkload(std::string_view pattern, const ObjectRef& workload) {
  return pattern.find('/') == std::string_view::npos
             ? MatchesPattern(pattern, workload.key.name)
             : MatchesPattern(pattern, workload.kind + "/" + workload.key.name);
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  // The position of the last "*", and where its text begins.
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace kubexx::reloadpolicy
