#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "kubexx/rest/internal/file.h"
#include "kubexx/rest/internal/kubeconfig_file.h"
#include "kubexx/rest/internal/url.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// Each would change where we connect or as whom; going on without would be wrong.
constexpr std::array<std::string_view, 1> kUnsupportedOfCluster = {"proxy-url"};
constexpr std::array<std::string_view, 6> kUnsupportedOfUser = {
    "exec", "auth-provider", "as", "as-groups", "as-uid", "as-user-extra"};

apimachinery::Error Bad(const KubeconfigEntry& entry, std::string_view field,
                        const std::string& why) {
  return Fail(Reason::kInvalidConfig, "kubeconfig " + entry.file + ": " + entry.path + ": " +
                                          std::string(field) + ": " + why);
}

std::string Get(const KubeconfigEntry& entry, const std::string& field) {
  const auto found = entry.fields.find(field);
  return found == entry.fields.end() ? std::string() : found->second;
}

template <std::size_t N>
Result<void> RefuseUnsupported(const KubeconfigEntry& entry,
                               const std::array<std::string_view, N>& fields) {
  for (const std::string_view field : fields) {
    if (!Get(entry, std::string(field)).empty()) {
      return Bad(entry, field, "not supported yet");
    }
  }
  return {};
}

Result<std::string> DecodeBase64(const KubeconfigEntry& entry, const std::string& field) {
  std::string text = Get(entry, field);
  std::erase_if(text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  if (text.empty()) {
    return std::string();
  }
  std::string out(text.size() / 4 * 3 + 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0 || text.size() % 4 != 0) {
    OPENSSL_cleanse(out.data(), out.size());
    return Bad(entry, field, "is not valid base64");
  }
  const auto padding = static_cast<std::size_t>(std::count(text.end() - 2, text.end(), '='));
  out.resize(static_cast<std::size_t>(length) - padding);
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
  KX_RETURN_IF_ERROR(RefuseUnsupported(entry, kUnsupportedOfCluster));
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
  return {};
}

Result<void> ApplyUser(const KubeconfigEntry& entry, Config& config) {
  KX_RETURN_IF_ERROR(RefuseUnsupported(entry, kUnsupportedOfUser));
  config.tls.cert_file = Get(entry, "client-certificate");
  config.tls.key_file = Get(entry, "client-key");
  KX_ASSIGN_OR_RETURN(config.tls.cert_data, DecodeBase64(entry, "client-certificate-data"));
  KX_ASSIGN_OR_RETURN(config.tls.key_data, DecodeBase64(entry, "client-key-data"));
  const bool has_cert = !config.tls.cert_file.empty() || !config.tls.cert_data.empty();
  const bool has_key = !config.tls.key_file.empty() || !config.tls.key_data.empty();
  if (has_cert != has_key) {
    return Bad(entry, has_cert ? "client-key" : "client-certificate",
               "is missing beside the other one of the pair");
  }
  config.bearer_token = Get(entry, "token");
  config.bearer_token_file = Get(entry, "tokenFile");
  config.username = Get(entry, "username");
  config.password = Get(entry, "password");
  if (!config.bearer_token.empty() && !config.username.empty()) {
    return Bad(entry, "username", "cannot be combined with token");
  }
  return {};
}

}  // namespace

Result<Config> Resolve(const Kubeconfig& kubeconfig, const std::string& context) {
  const std::string name = context.empty() ? kubeconfig.current_context : context;
  if (name.empty()) {
    return Fail(Reason::kInvalidConfig,
                "kubeconfig " + kubeconfig.origin +
                    ": current-context: is not set and no context was asked for");
  }
  KX_ASSIGN_OR_RETURN(const KubeconfigEntry* const chosen,
                      Find(kubeconfig.contexts, name, "context", kubeconfig.origin));
  Config config;
  const std::string cluster = Get(*chosen, "cluster");
  if (cluster.empty()) {
    return Bad(*chosen, "cluster", "is not set");
  }
  KX_ASSIGN_OR_RETURN(const KubeconfigEntry* const cluster_entry,
                      Find(kubeconfig.clusters, cluster, "cluster", kubeconfig.origin));
  KX_RETURN_IF_ERROR(ApplyCluster(*cluster_entry, config));
  if (const std::string user = Get(*chosen, "user"); !user.empty()) {
    KX_ASSIGN_OR_RETURN(const KubeconfigEntry* const user_entry,
                        Find(kubeconfig.users, user, "user", kubeconfig.origin));
    KX_RETURN_IF_ERROR(ApplyUser(*user_entry, config));
  }
  if (std::string name_space = Get(*chosen, "namespace"); !name_space.empty()) {
    config.namespace_ = std::move(name_space);
  }
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
  // The HTTP client takes no IPv6 addresses; this name stands for the same service and is in its
  // certificate.
  config.host = "https://" +
                (host.find(':') == std::string::npos ? host : "kubernetes.default.svc") + ":" +
                port;
  if (auto url = ParseServerUrl(config.host); !url) {
    return Fail(url.error().WithContext("KUBERNETES_SERVICE_HOST and _PORT"));
  }
  config.tls.ca_file = directory + "/ca.crt";
  config.bearer_token_file = directory + "/token";
  KX_RETURN_IF_ERROR(ReadFile(config.tls.ca_file, "service account file"));
  KX_RETURN_IF_ERROR(ReadFile(config.bearer_token_file, "service account file"));
  if (auto name_space = ReadFile(directory + "/namespace", "service account file"); name_space) {
    while (!name_space->empty() &&
           std::isspace(static_cast<unsigned char>(name_space->back())) != 0) {
      name_space->pop_back();
    }
    if (!name_space->empty()) {
      config.namespace_ = std::move(*name_space);
    }
  }
  return config;
}

}  // namespace kubexx::rest::internal
