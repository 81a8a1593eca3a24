#include <openssl/crypto.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "kubexx/codec/base64.h"
#include "kubexx/rest/internal/config/file.h"
#include "kubexx/rest/internal/config/kubeconfig_file.h"
#include "kubexx/rest/internal/config/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kExecGroup = "client.authentication.k8s.io/";

apimachinery::Error Bad(const KubeconfigEntry& entry, std::string_view field,
                        const std::string& why) {
  return Fail(Reason::kInvalidConfig, "kubeconfig " + entry.file + ": " + entry.path + ": " +
                                          std::string(field) + ": " + why);
}

std::string Get(const KubeconfigEntry& entry, const std::string& field) {
  const auto found = entry.fields.find(field);
  return found == entry.fields.end() ? std::string() : found->second;
}

Result<std::string> DecodeBase64(const KubeconfigEntry& entry, const std::string& field) {
  std::string text = Get(entry, field);
  std::erase_if(text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  std::string out;
  if (!codec::DecodeBase64(text, out)) {
    OPENSSL_cleanse(out.data(), out.size());
    return Bad(entry, field, "is not valid base64");
  }
  return out;
}

Result<bool> GetBool(const KubeconfigEntry& entry, const std::string& field) {
  const std::string text = Get(entry, field);
  if (text.empty() || text == "false") {
    return false;
  }
  if (text == "true") {
    return true;
  }
  return Bad(entry, field, "must be true or false");
}

Result<const KubeconfigEntry*> Find(const std::map<std::string, KubeconfigEntry>& entries,
                                    const std::string& name, const std::string& what,
                                    const std::string& origin) {
  const auto found = entries.find(name);
  if (found == entries.end()) {
    return Fail(Reason::kInvalidConfig,
                "kubeconfig " + origin + ": " + what + " \"" + name + "\" does not exist");
  }
  return &found->second;
}

Result<void> ApplyCluster(const KubeconfigEntry& entry, Config& config) {
  config.host = Get(entry, "server");
  if (auto url = ParseServerUrl(config.host); !url) {
    return Bad(entry, "server", url.error().message);
  }
  config.tls.server_name = Get(entry, "tls-server-name");
  config.tls.ca_file = Get(entry, "certificate-authority");
  KX_ASSIGN_OR_RETURN(config.tls.ca_data, DecodeBase64(entry, "certificate-authority-data"));
  KX_ASSIGN_OR_RETURN(config.tls.insecure_skip_verify, GetBool(entry, "insecure-skip-tls-verify"));
  if (config.tls.insecure_skip_verify &&
      !(config.tls.ca_file.empty() && config.tls.ca_data.empty())) {
    return Bad(entry, "insecure-skip-tls-verify", "cannot be combined with certificate-authority");
  }
  config.proxy_url = Get(entry, "proxy-url");
  if (!config.proxy_url.empty()) {
    if (auto proxy = ParseProxyUrl(config.proxy_url); !proxy) {
      return Bad(entry, "proxy-url", proxy.error().message);
    }
  }
  if (!Get(entry, "disable-compression").empty()) {
    KX_ASSIGN_OR_RETURN(config.disable_compression, GetBool(entry, "disable-compression"));
  }
  return {};
}

Result<void> ApplyImpersonation(const KubeconfigEntry& entry, Config& config) {
  config.impersonate = {.user = Get(entry, "as"),
                        .uid = Get(entry, "as-uid"),
                        .groups = entry.as_groups,
                        .extra = entry.as_user_extra};
  const ImpersonationConfig& who = config.impersonate;
  if (who.user.empty() && !(who.uid.empty() && who.groups.empty() && who.extra.empty())) {
    return Bad(entry, "as", "must be set when as-uid, as-groups or as-user-extra is");
  }
  return {};
}

Result<void> ApplyExec(const KubeconfigEntry& entry, Config& config) {
  if (!Get(entry, "auth-provider").empty()) {
    return Bad(entry, "auth-provider",
               "is not supported: Kubernetes has replaced it with credential plugins; use "
               "\"exec\" with the plugin of your provider, for example gke-gcloud-auth-plugin, "
               "kubelogin or kubectl-oidc_login");
  }
  if (!entry.exec.has_value()) {
    return {};
  }
  ExecConfig exec = *entry.exec;
  if (exec.command.empty()) {
    return Bad(entry, "exec.command", "is not set");
  }
  const bool stable = exec.api_version == std::string(kExecGroup) + "v1";
  if (!stable && exec.api_version != std::string(kExecGroup) + "v1beta1") {
    return Bad(entry, "exec.apiVersion",
               "is \"" + exec.api_version + "\", must be " + std::string(kExecGroup) +
                   "v1 or .../v1beta1");
  }
  const std::string mode = Get(entry, "exec.interactiveMode");
  if (mode.empty() && stable) {
    return Bad(entry, "exec.interactiveMode", "must be set for " + exec.api_version);
  }
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    return Bad(entry, "exec.interactiveMode", "must be Never, IfAvailable or Always");
  }
  exec.interactive = mode == "Never"    ? ExecInteractive::kNever
                     : mode == "Always" ? ExecInteractive::kAlways
                                        : ExecInteractive::kIfAvailable;
  KX_ASSIGN_OR_RETURN(exec.provide_cluster_info, GetBool(entry, "exec.provideClusterInfo"));
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    if (exec.env[i].first.empty() || exec.env[i].first.find('=') != std::string::npos) {
      return Bad(entry, "exec.env[" + std::to_string(i) + "].name",
                 "must not be empty or have \"=\"");
    }
  }
  config.exec = std::move(exec);
  return {};
}

Result<void> ApplyUser(const KubeconfigEntry& entry, Config& config) {
  config.tls.cert_file = Get(entry, "client-certificate");
  config.tls.key_file = Get(entry, "client-key");
  KX_ASSIGN_OR_RETURN(config.tls.cert_data, DecodeBase64(entry, "client-certificate-data"));
  KX_ASSIGN_OR_RETURN(config.tls.key_data, DecodeBase64(entry, "client-key-data"));
  const bool has_cert = !config.tls.cert_file.empty() || !config.tls.cert_data.empty();
  const bool has_key = !config.tls.key_file.empty() || !config.tls.key_data.empty();
  if (has_cert != has_key) {
    return Bad(entry, has_cert ? "client-key" : "client-certificate",
               "is missing: a client certificate and its key must both be set");
  }
  config.bearer_token = Get(entry, "token");
  config.bearer_token_file = Get(entry, "tokenFile");
  config.username = Get(entry, "username");
  config.password = Get(entry, "password");
  if (!config.bearer_token.empty() && !config.username.empty()) {
    return Bad(entry, "username", "cannot be combined with token");
  }
  KX_RETURN_IF_ERROR(ApplyImpersonation(entry, config));
  return ApplyExec(entry, config);
}

// Returns the context to use, or an empty one when the options already name everything that a
// context would.
Result<KubeconfigEntry> ChooseContext(const Kubeconfig& kubeconfig,
                                      const KubeconfigOptions& options) {
  const std::string name = options.context.empty() ? kubeconfig.current_context : options.context;
  if (name.empty()) {
    if (options.cluster.empty() && options.server.empty()) {
      return Fail(Reason::kInvalidConfig,
                  "kubeconfig " + kubeconfig.origin +
                      ": current-context: is not set and no context was given");
    }
    return KubeconfigEntry{};
  }
  KX_ASSIGN_OR_RETURN(const KubeconfigEntry* const chosen,
                      Find(kubeconfig.contexts, name, "context", kubeconfig.origin));
  return *chosen;
}

}  // namespace

Result<Config> Resolve(const Kubeconfig& kubeconfig, const KubeconfigOptions& options) {
  KX_ASSIGN_OR_RETURN(const KubeconfigEntry context, ChooseContext(kubeconfig, options));
  Config config;
  const std::string cluster = options.cluster.empty() ? Get(context, "cluster") : options.cluster;
  if (cluster.empty() && options.server.empty()) {
    return Bad(context, "cluster", "is not set");
  }
  KubeconfigEntry cluster_entry;
  if (!cluster.empty()) {
    KX_ASSIGN_OR_RETURN(const KubeconfigEntry* const found,
                        Find(kubeconfig.clusters, cluster, "cluster", kubeconfig.origin));
    cluster_entry = *found;
  }
  if (!options.server.empty()) {
    if (auto url = ParseServerUrl(options.server); !url) {
      return Fail(url.error());
    }
    cluster_entry.fields["server"] = options.server;
    cluster_entry.fields.erase("tls-server-name");
  }
  KX_RETURN_IF_ERROR(ApplyCluster(cluster_entry, config));
  const std::string user = options.user.empty() ? Get(context, "user") : options.user;
  if (!user.empty()) {
    KX_ASSIGN_OR_RETURN(const KubeconfigEntry* const user_entry,
                        Find(kubeconfig.users, user, "user", kubeconfig.origin));
    KX_RETURN_IF_ERROR(ApplyUser(*user_entry, config));
  }
  if (config.exec.has_value()) {
    config.exec->cluster_extension = cluster_entry.exec_extension;
  }
  std::string namespace_ =
      options.namespace_.empty() ? Get(context, "namespace") : options.namespace_;
  if (!namespace_.empty()) {
    config.namespace_ = std::move(namespace_);
  }
  config.timeout = options.timeout;
  return config;
}

Result<Config> InClusterConfigFrom(const std::string& host, const std::string& port,
                                   const std::string& directory) {
  if (host.empty() || port.empty()) {
    return Fail(
        Reason::kInvalidConfig,
        "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set");
  }
  Config config;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  config.host = "https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
  if (auto url = ParseServerUrl(config.host); !url) {
    return Fail(url.error().WithContext("KUBERNETES_SERVICE_HOST and _PORT"));
  }
  config.tls.ca_file = directory + "/ca.crt";
  config.bearer_token_file = directory + "/token";
  KX_RETURN_IF_ERROR(ReadConfigFile(config.tls.ca_file, "service account file"));
  KX_RETURN_IF_ERROR(ReadConfigFile(config.bearer_token_file, "service account file"));
  if (auto namespace_ = ReadConfigFile(directory + "/namespace", "service account file");
      namespace_) {
    while (!namespace_->empty() &&
           std::isspace(static_cast<unsigned char>(namespace_->back())) != 0) {
      namespace_->pop_back();
    }
    if (!namespace_->empty()) {
      config.namespace_ = std::move(*namespace_);
    }
  }
  return config;
}

}  // namespace kubexx::rest::internal
