#include "kubexx/reloadpolicy/internal/layers.h"

#include <functional>
#include <utility>

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloadpolicy::internal {
namespace {

std::string Shown(bool value) { return value ? "true" : "false"; }
std::string Shown(int value) { return std::to_string(value); }
std::string Shown(KeyScope value) { return std::string(ToString(value)); }
std::string Shown(const Waves& value) { return value.ToString(); }
std::string Shown(base::Duration value) { return apimachinery::Duration{value.count()}.ToString(); }

/// The names of a setting: that of its field, and that of its annotation without kAnnotationPrefix.
struct Name {
  const char* field;
  const char* annotation = "";
};

constexpr Name kTimeoutName{"healthGate.timeout", "health-timeout"};

template <class T>
Setting<T> SaidBy(const Speaker& speaker, const T& value, const Name& name) {
  Setting<T> setting{value, speaker.origin, speaker.policy, speaker.enforced};
  if (speaker.origin.empty()) {
    setting.origin = "annotation " + std::string(kAnnotationPrefix) + name.annotation;
  } else if (speaker.enforced) {
    setting.origin += ", enforced";
  }
  return setting;
}

/// Calls `take(value, name, target, is_stricter)` for each setting that has a single value.
/// `is_stricter(a, b)` tells whether a holds rollouts back that b does not.
template <class Take>
void ForEach(const Settings& from, const std::optional<int>& order, Effective& to, Take take) {
  const auto more = std::greater<>();
  const auto less = std::less<>();
  take(from.paused, {"paused", "paused"}, to.paused, more);
  take(from.settle_window, {"settleWindow", "settle-window"}, to.settle_window, more);
  take(from.min_interval, {"minInterval", "min-interval"}, to.min_interval, more);
  take(from.max_in_namespace, {"maxConcurrentRollouts"}, to.max_in_namespace, less);
  take(from.max_in_cluster, {"maxConcurrentRollouts of the cluster"}, to.max_in_cluster, less);
  take(from.health_gate, {"healthGate"}, to.health_gate, more);
  take(from.health_timeout, kTimeoutName, to.health_timeout, less);
  take(from.soak_time, {"healthGate.soakTime"}, to.soak_time, more);
  // Neither scope is stricter than the other, so that of the first enforced policy counts.
  const auto is_first = [&to](KeyScope /*enforced*/, KeyScope /*said*/) {
    return !to.keys->enforced;
  };
  take(from.keys, {"keys", "keys"}, to.keys, is_first);
  const auto is_first_waves = [&to](const Waves& /*enforced*/, const Waves& /*said*/) {
    return !to.waves->enforced;
  };
  take(from.waves, {"waves"}, to.waves, is_first_waves);
  // Which order is stricter depends on the orders of other workloads, so that of the first enforced
  // policy counts.
  const auto counts = [&to](int /*enforced*/, int /*said*/) { return !to.order->enforced; };
  take(order ? order : from.order, {"order", "order"}, to.order, counts);
}

constexpr Name kStopName{"stopAfterFailures"};
constexpr Name kWindowsName{"maintenanceWindows", "maintenance-windows"};

template <class T>
void AddTo(std::vector<Setting<T>>& list, const std::optional<T>& value, const Name& name,
           const Speaker& speaker) {
  if (value && (list.empty() || speaker.enforced)) {
    list.push_back(SaidBy(speaker, *value, name));
  }
}

/// Adds the defaults of an enforced health gate, limit or stop on failure. Otherwise a team could
/// set a soak time of zero, a limit as high as it likes, or a timeout by which no rollout ever
/// fails and no place becomes free.
Settings WithDefaults(Settings settings) {
  const bool has_health_gate = settings.health_gate && *settings.health_gate;
  const bool limits = settings.max_in_namespace || settings.max_in_cluster;
  if ((has_health_gate || settings.stop_after_failures) && !settings.soak_time) {
    settings.soak_time = Effective::kDefaultSoakTime;
  }
  if ((has_health_gate || limits || settings.stop_after_failures) && !settings.health_timeout) {
    settings.health_timeout = Effective::kDefaultHealthTimeout;
  }
  if (has_health_gate && !settings.max_in_namespace && !settings.max_in_cluster) {
    settings.max_in_namespace = 1;
  }
  return settings;
}

}  // namespace

void Layers::Add(const Settings& settings, const Speaker& speaker,
                 const std::optional<int>& order) {
  ForEach(settings, order, effective_,
          [&](const auto& value, const Name& name, auto& target, auto /*is_stricter*/) {
            if (value && !target) {
              target = SaidBy(speaker, *value, name);
            }
          });
  if (auto& timeout = effective_.others_health_timeout;
      settings.health_timeout && !timeout && !speaker.origin.empty()) {
    timeout = SaidBy(speaker, *settings.health_timeout, kTimeoutName);
  }
  AddTo(effective_.stop_after_failures, settings.stop_after_failures, kStopName, speaker);
  AddTo(effective_.windows, settings.windows, kWindowsName, speaker);
}

void Layers::Enforce(const Settings& said, const Speaker& speaker,
                     const std::optional<int>& order) {
  const Settings settings = WithDefaults(said);
  ForEach(settings, order, effective_,
          [&](const auto& value, const Name& name, auto& target, auto is_stricter) {
            if (!value || (target && !is_stricter(*value, target->value))) {
              return;
            }
            auto enforced = SaidBy(speaker, *value, name);
            if (target && !target->enforced) {
              effective_.refused.push_back(target->origin + " asks for " + name.field + " " +
                                           Shown(target->value) + "; " + enforced.origin + ": " +
                                           Shown(enforced.value));
            }
            target = std::move(enforced);
          });
  // A short timeout in a team's policy does not give the team's workloads a place any sooner.
  if (auto& timeout = effective_.others_health_timeout;
      settings.health_timeout &&
      (!timeout || !timeout->enforced || *settings.health_timeout < timeout->value)) {
    timeout = SaidBy(speaker, *settings.health_timeout, kTimeoutName);
  }
  AddTo(effective_.stop_after_failures, settings.stop_after_failures, kStopName, speaker);
  AddTo(effective_.windows, settings.windows, kWindowsName, speaker);
}

}  // namespace kubexx::reloadpolicy::internal
