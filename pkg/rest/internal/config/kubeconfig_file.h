/// @file
/// Reads and merges kubeconfig files, and chooses a context.
#ifndef KUBEXX_REST_INTERNAL_CONFIG_KUBECONFIG_FILE_H_
#define KUBEXX_REST_INTERNAL_CONFIG_KUBECONFIG_FILE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest::internal {

/// One named entry: its scalar fields as text, the other fields with their types, and its place in
/// the file.
struct KubeconfigEntry {
  std::map<std::string, std::string> fields{};
  std::vector<std::string> as_groups{};
  std::map<std::string, std::vector<std::string>> as_user_extra{};
  /// The interactiveMode of `exec` is in `fields`, under "exec.interactiveMode".
  std::optional<ExecConfig> exec{};
  std::string exec_extension{};  ///< of a cluster, as JSON
  std::string file{};
  std::string path{};  ///< for errors, for example "users[0] \"admin\""
};

/// The content of one or more files. Paths in fields are absolute or relative to the working
/// directory.
struct Kubeconfig {
  std::map<std::string, KubeconfigEntry> clusters{};
  std::map<std::string, KubeconfigEntry> users{};
  std::map<std::string, KubeconfigEntry> contexts{};
  std::string current_context{};
  std::string origin{};  ///< the files, for errors
};

/// Reads one file. kInvalidConfig "<file>: <field>: <reason>" for bad YAML or a field of the wrong
/// kind. Unknown fields are ignored. auth-provider is not supported; it is kept so that Resolve can
/// report it.
apimachinery::Result<Kubeconfig> ReadKubeconfigFile(const std::string& path);

/// Adds the entries that `into` does not have yet. When two files have an entry of the same name,
/// the first one counts.
void MergeKubeconfig(Kubeconfig& into, Kubeconfig file);

/// Returns the Config of the chosen context, or of the current one. kInvalidConfig when an entry is
/// missing or a field of the chosen cluster or user cannot be used. Ignores `options.path`.
apimachinery::Result<Config> Resolve(const Kubeconfig& kubeconfig,
                                     const KubeconfigOptions& options);

/// Returns a pod's Config from the values of KUBERNETES_SERVICE_HOST and _PORT and the service
/// account's directory.
apimachinery::Result<Config> InClusterConfigFrom(const std::string& host, const std::string& port,
                                                 const std::string& directory);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CONFIG_KUBECONFIG_FILE_H_
