/// @file
/// What the program is told to do, and what that means for the server.
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

/// What the command line says.
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
  /// Whether the plugin ServiceAccount is on, when no flag and no controller says so.
  bool service_accounts = false;
  base::Duration event_ttl = std::chrono::hours(1);
  std::int64_t watch_window = 1000;
  std::int64_t threads = 4;
  apiserver::controllers::ControllersOptions controllers{.names = {}};
  std::string log_level = "info";
};

/// The flags that kubexx-apiserver has and kube-apiserver has, too, with the same meaning.
void AddSharedFlags(flags::FlagSet& flags, Settings& settings);

/// All flags of kubexx-apiserver. `settings` must outlive `flags`.
void AddFlags(flags::FlagSet& flags, Settings& settings);

/// Reads the files that are named. kInvalidConfig for what cannot be read, contradicts itself or is
/// not supported.
apimachinery::Result<apiserver::ApiServerOptions> OptionsOf(const Settings& settings);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_SETTINGS_H_
