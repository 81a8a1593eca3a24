#include "settings.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/read_file.h"
#include "kubexx/apimachinery/secret_file.h"
#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/endpoints/services/service_ranges.h"
#include "kubexx/base/identity.h"
#include "security_flags.h"

namespace kubexx::cmd {
namespace {

using apimachinery::Bytes;
using apimachinery::Fail;
using apimachinery::ReadFile;
using apimachinery::ReadSecretFile;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kServiceAccount = "ServiceAccount";
constexpr std::int64_t kMaxThreads = 1024;

Result<Bytes> TokenOf(const Settings& settings) {
  if (!settings.token_file.empty()) {
    KX_ASSIGN_OR_RETURN(const Bytes read, ReadSecretFile(settings.token_file));
    const std::size_t last = read.view().find_last_not_of("\n\r ");
    if (last == std::string_view::npos) {
      return Fail(Reason::kInvalidConfig, settings.token_file + " holds no token");
    }
    return Bytes(std::string(read.view().substr(0, last + 1)));
  }
  // The administrator's is needed where others have theirs.
  if (!settings.token.empty() || (settings.insecure && settings.token_auth_file.empty())) {
    return Bytes(settings.token);
  }
  return Bytes(base::RandomUuid());
}

/// Whether Roles and their bindings are asked.
Result<bool> AsksRoles(const std::vector<std::string>& modes) {
  for (const std::string& mode : modes) {
    if (mode != "AlwaysAllow" && mode != "RBAC" && mode != "Node") {
      return Fail(Reason::kInvalidConfig,
                  "--authorization-mode: there is no " + mode + ", only AlwaysAllow, RBAC, Node");
    }
  }
  if (std::ranges::find(modes, "AlwaysAllow") != modes.end()) {
    return false;
  }
  if (std::ranges::find(modes, "RBAC") == modes.end()) {
    return Fail(Reason::kInvalidConfig,
                "--authorization-mode: use AlwaysAllow, RBAC, or Node beside RBAC");
  }
  return true;
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Whether new pods get what their service accounts have for them. Where nobody makes the accounts
/// they would be refused.
bool HasServiceAccounts(const Settings& settings) {
  const std::vector<std::string>& controllers = settings.controllers.names;
  const bool makes_accounts = Has(controllers, "all") || Has(controllers, "namespace");
  return !Has(settings.disabled_plugins, kServiceAccount) &&
         (settings.service_accounts || makes_accounts ||
          Has(settings.enabled_plugins, kServiceAccount));
}

Result<void> CheckNumbers(const Settings& settings) {
  if (settings.threads < 1 || settings.threads > kMaxThreads) {
    return Fail(Reason::kInvalidConfig,
                "--threads: must be between 1 and " + std::to_string(kMaxThreads));
  }
  if (settings.watch_window < 1) {
    return Fail(Reason::kInvalidConfig, "--watch-window: must be at least 1");
  }
  if (settings.event_ttl < base::Duration(0)) {
    return Fail(Reason::kInvalidConfig,
                "--event-ttl: must not be negative; 0 keeps Events for ever");
  }
  if (settings.controllers.pod_start_delay < base::Duration(0)) {
    return Fail(Reason::kInvalidConfig, "--pod-start-delay: must not be negative");
  }
  return {};
}

Result<void> CheckAddresses(const Settings& settings) {
  if (!settings.advertise_address.empty() &&
      apiserver::BytesOfAddress(settings.advertise_address).empty()) {
    return Fail(Reason::kInvalidConfig, "--advertise-address: \"" + settings.advertise_address +
                                            "\" is no IP address; host names are not supported");
  }
  return {};
}

Result<apiserver::ServiceRanges> ServiceRangesOf(const Settings& settings) {
  auto addresses = apiserver::ParseAddressRanges(settings.service_cluster_ip_range);
  if (!addresses) {
    return Fail(addresses.error().WithContext("--service-cluster-ip-range"));
  }
  const auto ports = apiserver::ParsePortRange(settings.service_node_port_range);
  if (!ports) {
    return Fail(ports.error().WithContext("--service-node-port-range"));
  }
  return apiserver::ServiceRanges{.addresses = std::move(*addresses), .ports = *ports};
}

Result<void> CheckFiles(const Settings& settings) {
  if (settings.certificate_file.empty() != settings.key_file.empty()) {
    return Fail(Reason::kInvalidConfig,
                "--tls-cert-file and --tls-private-key-file belong together");
  }
  if (settings.etcd.certificate_file.empty() != settings.etcd.key_file.empty()) {
    return Fail(Reason::kInvalidConfig, "--etcd-certfile and --etcd-keyfile belong together");
  }
  if (settings.etcd.endpoints.empty() &&
      !(settings.etcd.ca_file.empty() && settings.etcd.certificate_file.empty())) {
    return Fail(Reason::kInvalidConfig,
                "--etcd-cafile, --etcd-certfile and --etcd-keyfile need --etcd-servers: without it "
                "no etcd is used");
  }
  if (!settings.token.empty() && !settings.token_file.empty()) {
    return Fail(Reason::kInvalidConfig, "--token and --token-file exclude each other");
  }
  return {};
}

Result<void> CheckValues(const Settings& settings) {
  KX_RETURN_IF_ERROR(CheckNumbers(settings));
  KX_RETURN_IF_ERROR(CheckAddresses(settings));
  return CheckFiles(settings);
}

}  // namespace

void AddSharedFlags(flags::FlagSet& flags, Settings& settings) {
  flags.AddString("advertise-address",
                  "IP address of the server in the Endpoints of the Service default/kubernetes; by "
                  "default the address that the server listens on, or the machine's.",
                  &settings.advertise_address);
  flags.AddString("service-cluster-ip-range",
                  "The addresses of Services, as one CIDR or one of each IP family; the first is "
                  "that of the Service default/kubernetes.",
                  &settings.service_cluster_ip_range);
  flags.AddString("service-node-port-range",
                  "The ports of nodes that Services of the types NodePort and LoadBalancer get.",
                  &settings.service_node_port_range);
  flags.AddString(
      "tls-cert-file",
      "PEM file with the server's certificate, which is read again when it changes; without it the "
      "server makes one.",
      &settings.certificate_file);
  flags.AddString("tls-private-key-file", "PEM file with the key of that certificate.",
                  &settings.key_file);
  flags.AddString("client-ca-file",
                  "PEM file with the authorities of client certificates: a client with such a "
                  "certificate is authenticated as its subject.",
                  &settings.client_ca_file);
  flags.AddString("token-auth-file",
                  "CSV file with bearer tokens of other users: token,user,uid,\"group1,group2\".",
                  &settings.token_auth_file);
  flags.AddList(
      "authorization-mode",
      "Allow everything to every authenticated user (AlwaysAllow), or only what Roles and their "
      "bindings allow (RBAC); Node may stand beside RBAC and adds nothing.",
      &settings.authorization_modes);
  flags.AddList("etcd-servers",
                "Keep all objects in this etcd, as kube-apiserver does, instead of in memory.",
                &settings.etcd.endpoints);
  flags.AddString("etcd-cafile", "PEM file with the authorities of etcd's certificate.",
                  &settings.etcd.ca_file);
  flags.AddString("etcd-certfile", "PEM file with the client certificate for etcd.",
                  &settings.etcd.certificate_file);
  flags.AddString("etcd-keyfile", "PEM file with the key of the client certificate for etcd.",
                  &settings.etcd.key_file);
  flags.AddList(
      "enable-admission-plugins",
      "With ServiceAccount the server gives a new pod its service account, the volume with "
      "the account's token and the account's imagePullSecrets, and refuses the pod when "
      "the account does not exist. Plugins that kube-apiserver enables by default have no "
      "effect; the server does not start with others that refuse something.",
      &settings.enabled_plugins);
  flags.AddList("disable-admission-plugins",
                "With ServiceAccount the server accepts pods as they are. Others have no effect.",
                &settings.disabled_plugins);
  flags.AddDuration("event-ttl",
                    "How long Events are kept after their last write; 0s keeps them for ever.",
                    &settings.event_ttl);
}

void AddFlags(flags::FlagSet& flags, Settings& settings) {
  AddSharedFlags(flags, settings);
  flags.AddString("address", "Host and port to listen on; port 0 takes a free one.",
                  &settings.address);
  flags.AddBool("insecure", "Serve plain HTTP.", &settings.insecure);
  flags.AddNonEmptyString(
      "token",
      "The administrator's bearer token. Without --token and --token-file the server makes one "
      "for the kubeconfig; with --insecure and without --token-auth-file it needs no token.",
      &settings.token);
  flags.AddNonEmptyString("token-file", "File with the administrator's bearer token.",
                          &settings.token_file);
  flags.AddList(
      "allowed-origins",
      "Origins of web pages that may use the server without a token or with the browser's "
      "client certificate: https://dashboard.example.com, for example.",
      &settings.allowed_origins);
  flags.AddList(
      "allowed-hosts",
      "Names, such as a proxy's or a container's, by which requests may call a server that needs "
      "no token (--insecure), besides localhost, the machine's name and that of --address.",
      &settings.allowed_hosts);
  flags.AddNonEmptyString("write-kubeconfig",
                          "Write a kubeconfig for the administrator to this file.",
                          &settings.kubeconfig);
  flags.AddNonEmptyString(
      "data-file",
      "Keep all objects in this file, too, so that they survive the process. The file also has the "
      "authority of the certificate and the administrator's token when the server makes these.",
      &settings.data_file);
  flags.AddBool("managed-fields",
                "Record in each object's metadata.managedFields which manager has set which field.",
                &settings.managed_fields);
  flags.AddInt(
      "watch-window",
      "How many past events of a resource are kept at most for watches that begin in the past.",
      &settings.watch_window);
  flags.AddInt("threads", "How many requests the server handles at the same time.",
               &settings.threads);
  flags.AddList(
      "controllers",
      "Run these controllers: all, or some of namespace, serviceaccount-token, "
      "garbage-collector, deployment, replicaset, statefulset, daemonset, job, disruption, "
      "pod.",
      &settings.controllers.names);
  flags.AddDuration("pod-start-delay",
                    "How long pods take to become ready when the controller pod runs.",
                    &settings.controllers.pod_start_delay);
  flags.AddChoice("log-level", "Lowest level of the lines that the server logs",
                  {"debug", "info", "warning", "error"}, &settings.log_level);
}

Result<apiserver::ApiServerOptions> OptionsOf(const Settings& settings) {
  KX_RETURN_IF_ERROR(CheckValues(settings));
  apiserver::ApiServerOptions options;
  options.address = settings.address;
  options.plain_http = settings.insecure;
  options.threads = static_cast<std::size_t>(settings.threads);
  options.managed_fields = settings.managed_fields;
  options.service_accounts = HasServiceAccounts(settings);
  options.event_ttl = std::chrono::duration_cast<std::chrono::seconds>(settings.event_ttl);
  options.allowed_origins = settings.allowed_origins;
  options.allowed_hosts = settings.allowed_hosts;
  options.advertise_address = settings.advertise_address;
  KX_ASSIGN_OR_RETURN(options.service_ranges, ServiceRangesOf(settings));
  options.shared_storage = !settings.etcd.endpoints.empty();
  options.watch_window = static_cast<std::size_t>(settings.watch_window);
  if (!settings.certificate_file.empty()) {
    KX_ASSIGN_OR_RETURN(options.certificate.certificate, ReadFile(settings.certificate_file));
    KX_ASSIGN_OR_RETURN(options.certificate.key, ReadSecretFile(settings.key_file));
  }
  if (!settings.client_ca_file.empty()) {
    KX_ASSIGN_OR_RETURN(options.client_ca, ReadFile(settings.client_ca_file));
    if (options.client_ca
            .empty()) {  // An empty one is none: clients would not be asked for theirs.
      return Fail(Reason::kInvalidConfig,
                  "--client-ca-file: " + settings.client_ca_file + " holds no certificate");
    }
  }
  KX_RETURN_IF_ERROR(CheckPlugins(settings.enabled_plugins));
  KX_ASSIGN_OR_RETURN(options.rbac, AsksRoles(settings.authorization_modes));
  if (!settings.token_auth_file.empty()) {
    KX_ASSIGN_OR_RETURN(const Bytes text, ReadSecretFile(settings.token_auth_file));
    auto tokens = apiserver::ParseTokenFile(text.view());
    if (!tokens) {
      return Fail(tokens.error().WithContext("--token-auth-file"));
    }
    options.tokens = std::move(*tokens);
  }
  // What is in etcd may be for a kube-apiserver, too.
  options.form = settings.etcd.endpoints.empty() ? apiserver::StoredForm::kJson
                                                 : apiserver::StoredForm::kProtobuf;
  KX_ASSIGN_OR_RETURN(options.token, TokenOf(settings));
  return options;
}

}  // namespace kubexx::cmd
