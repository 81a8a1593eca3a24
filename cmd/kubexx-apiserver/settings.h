/// @file
/// The settings of the program, and the server options that they mean.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_SETTINGS_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_SETTINGS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/controllers.h"
#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/storage/etcd3/etcd3.h"
#include "kubexx/base/clock.h"
#include "kubexx/flags/flags.h"

namespace kubexx::cmd {

/// The values of the command line's flags.
struct Settings {
  std::string address = "127.0.0.1:6443";
  bool insecure = false;
  std::string advertise_address{};
  std::string service_cluster_ip_range = "10.0.0.0/24";
  std::string service_node_port_range = "30000-32767";
  std::string certificate_file{};
  std::string key_file{};
  std::string client_ca_file{};
  std::string token{};
  std::string token_file{};
  std::string token_auth_file{};
  std::vector<std::string> allowed_origins{};
  std::vector<std::string> allowed_hosts{};
  std::vector<std::string> authorization_modes{"AlwaysAllow"};
  std::string kubeconfig{};
  std::string data_file{};
  apiserver::storage::etcd3::Etcd3Options etcd{};
  bool managed_fields = true;
  std::vector<std::string> enabled_plugins{};
  std::vector<std::string> disabled_plugins{};
  /// Whether the admission plugin ServiceAccount is on when neither a flag nor a controller turns
  /// it on.
  bool service_accounts = false;
  base::Duration event_ttl = std::chrono::hours(1);
  std::int64_t watch_window = 100'000;
  std::int64_t threads = 4;
  apiserver::controllers::ControllersOptions controllers{.names = {}};
  std::string log_level = "info";
};

/// Adds the flags that kubexx-apiserver and kube-apiserver have in common, with the same meaning.
void AddSharedFlags(flags::FlagSet& flags, Settings& settings);

/// Adds all flags of kubexx-apiserver. `settings` must outlive `flags`.
void AddFlags(flags::FlagSet& flags, Settings& settings);

/// Makes the options of the server, and reads the files that the settings name. Returns
/// kInvalidConfig when a file cannot be read, and for settings that contradict each other or are
/// not supported.
apimachinery::Result<apiserver::ApiServerOptions> OptionsOf(const Settings& settings);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_SETTINGS_H_
