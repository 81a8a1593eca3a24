/// @file
/// The operator's command line and environment.
#ifndef KUBEXX_RELOADER_CONFIG_H_
#define KUBEXX_RELOADER_CONFIG_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/decision.h"
#include "kubexx/reloader/source.h"
#include "kubexx/rest/config.h"

namespace kubexx::reloader {

/// What the operator runs with, checked.
struct Config {
  DecisionRules rules{};
  /// Empty: all.
  std::vector<std::string> namespaces{};
  std::set<std::string> ignored_namespaces{};
  std::string source_label_selector{};
  std::set<SourceType> ignored_types{};
  bool count_by_namespace = false;
  base::Duration settle_window{};
  int workers = 0;
  std::string metrics_address{};
  rest::KubeconfigOptions kubeconfig{};
  double qps = 0;
  int burst = 0;
  logging::Options logging{};
  /// To be logged once the log is set up.
  std::vector<std::string> warnings{};
};

/// Flags with stakater/Reloader's names, defaults and meanings, and our own. Those of its features
/// that are not here yet are known, so that their defaults may be given, and refused when they
/// would change something.
class ConfigFlags {
 public:
  /// An environment variable, empty when it is not set.
  using Environment = std::function<std::string(const char* name)>;

  /// Adds the flags to `flags`, which writes to this object.
  explicit ConfigFlags(flags::FlagSet& flags);
  ConfigFlags(const ConfigFlags&) = delete;
  ConfigFlags& operator=(const ConfigFlags&) = delete;

  /// The configuration, after parsing. kInvalidConfig names the flag or variable and what is wrong
  /// with it.
  apimachinery::Result<Config> Build(const Environment& environment) const;

 private:
  void AddShared(flags::FlagSet& flags);
  void AddNotYetSupported(flags::FlagSet& flags);
  void AddOwn(flags::FlagSet& flags);
  apimachinery::Result<void> RefuseUnsupported(const Environment& environment) const;
  apimachinery::Result<void> BuildScope(const Environment& environment, Config& config) const;
  apimachinery::Result<void> BuildTuning(Config& config) const;
  void BuildLogging(Config& config) const;

  DecisionRules rules_;
  std::string log_format_;
  std::string log_level_ = "info";
  std::vector<std::string> resources_to_ignore_;
  std::vector<std::string> ignored_workload_types_;
  std::vector<std::string> namespaces_;
  std::vector<std::string> namespaces_to_ignore_;
  std::vector<std::string> resource_label_selector_;
  std::string reload_strategy_ = "env-vars";

  std::string pause_annotation_ = "deployment.reloader.stakater.com/pause-period";
  std::string paused_at_annotation_ = "deployment.reloader.stakater.com/paused-at";
  std::string webhook_url_;
  std::vector<std::string> namespace_selector_;
  std::string argo_rollouts_ = "false";
  std::string reload_on_create_ = "false";
  std::string reload_on_delete_ = "false";
  bool sync_after_restart_ = false;
  bool enable_ha_ = false;
  bool enable_pprof_ = false;
  std::string pprof_address_ = ":6060";
  bool enable_csi_ = false;

  rest::KubeconfigOptions kubeconfig_;
  std::string metrics_address_ = ":9090";
  base::Duration settle_window_ = std::chrono::milliseconds(100);
  std::int64_t workers_ = 2;
  std::int64_t qps_ = 100;
  std::int64_t burst_ = 200;
  std::vector<std::string> arguments_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_CONFIG_H_
