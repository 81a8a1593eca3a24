// kubexx-apiserver: a Kubernetes API server in one small process. Flags, wiring and signals; the
// work is done in pkg/apiserver.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "etcd.h"
#include "kubexx/apiserver/controllers/controllers.h"
#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/server/server_identity.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/descriptor_limit.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/replace_file.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// What the command line says.
struct Settings {
  std::string address = "127.0.0.1:6443";
  bool insecure = false;
  std::string certificate_file{};
  std::string key_file{};
  std::string client_ca_file{};
  std::string token{};
  std::string token_file{};
  std::string token_auth_file{};
  std::vector<std::string> allowed_origins{};
  std::vector<std::string> allowed_hosts{};
  std::string authorization_mode = "AlwaysAllow";
  std::string kubeconfig{};
  std::string data_file{};
  apiserver::storage::etcd3::Etcd3Options etcd{};
  bool managed_fields = true;
  base::Duration event_ttl = std::chrono::hours(1);
  std::int64_t watch_window = 1000;
  std::int64_t threads = 4;
  apiserver::controllers::ControllersOptions controllers{.names = {}};
  std::string log_level = "info";
};

void AddFlags(flags::FlagSet& flags, Settings& settings) {
  flags.AddString("address", "Host and port to listen on; port 0 takes a free one.",
                  &settings.address);
  flags.AddBool("insecure", "Serve plain HTTP.", &settings.insecure);
  flags.AddString("tls-cert-file",
                  "PEM file with the server's certificate; without it one is made.",
                  &settings.certificate_file);
  flags.AddString("tls-private-key-file", "PEM file with its key.", &settings.key_file);
  flags.AddString("client-ca-file",
                  "PEM file with the authorities of client certificates: whoever has one is let in "
                  "as its subject.",
                  &settings.client_ca_file);
  flags.AddString(
      "token",
      "The administrator's bearer token; without --token and --token-file one is made "
      "for the kubeconfig, or, with --insecure and without --token-auth-file, nobody is "
      "asked for one.",
      &settings.token);
  flags.AddString("token-file", "File with the administrator's bearer token.",
                  &settings.token_file);
  flags.AddString("token-auth-file",
                  "CSV file with bearer tokens of other users: token,user,uid,\"group1,group2\".",
                  &settings.token_auth_file);
  flags.AddList("allowed-origins",
                "Web pages of others that may use the server without a token or with the browser's "
                "client certificate: https://dashboard.example.com, for example.",
                &settings.allowed_origins);
  flags.AddList("allowed-hosts",
                "Names besides --address that requests may call a server by that asks for nothing "
                "(--insecure), such as a proxy's.",
                &settings.allowed_hosts);
  flags.AddChoice("authorization-mode",
                  "Allow everything to everybody who is let in, or what Roles and their bindings "
                  "allow.",
                  {"AlwaysAllow", "RBAC"}, &settings.authorization_mode);
  flags.AddString("write-kubeconfig", "Write a kubeconfig for the administrator to this file.",
                  &settings.kubeconfig);
  flags.AddString("data-file",
                  "Keep all objects in this file too, so that they survive the process, with the "
                  "certificate and the administrator's token if these are made.",
                  &settings.data_file);
  flags.AddList("etcd-servers",
                "Keep all objects in this etcd, as kube-apiserver does, instead of in memory.",
                &settings.etcd.endpoints);
  flags.AddString("etcd-cafile", "PEM file with the authorities of etcd's certificate.",
                  &settings.etcd.ca_file);
  flags.AddString("etcd-certfile", "PEM file with the client certificate for etcd.",
                  &settings.etcd.certificate_file);
  flags.AddString("etcd-keyfile", "PEM file with its key.", &settings.etcd.key_file);
  flags.AddBool("managed-fields",
                "Keep in each object's metadata.managedFields who has set which field.",
                &settings.managed_fields);
  flags.AddDuration("event-ttl", "How long Events are kept after their last write; 0 for ever.",
                    &settings.event_ttl);
  flags.AddInt("watch-window", "Events of a resource that watches can begin in the past of.",
               &settings.watch_window);
  flags.AddInt("threads", "Requests that are worked on at once.", &settings.threads);
  flags.AddList("controllers",
                "Run these controllers: all, or some of namespace, serviceaccount-token, "
                "garbage-collector, deployment, replicaset, statefulset, daemonset, job, pod.",
                &settings.controllers.names);
  flags.AddDuration("pod-start-delay",
                    "With the controller pod: how long pods take to become ready.",
                    &settings.controllers.pod_start_delay);
  flags.AddChoice("log-level", "What to log.", {"debug", "info", "warning", "error"},
                  &settings.log_level);
}

Result<std::string> ReadFile(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    return Fail(Reason::kInvalidConfig, "cannot read " + name);
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<void> WriteKubeconfig(const std::string& name, const std::string& text) {
  if (const auto error = base::ReplaceFile(name, text, 0600)) {  // There is a token in it.
    return Fail(Reason::kInvalidConfig,
                "cannot write the kubeconfig to " + name + ": " + error.message());
  }
  return {};
}

Result<std::string> TokenOf(const Settings& settings) {
  if (!settings.token_file.empty()) {
    KX_ASSIGN_OR_RETURN(std::string token, ReadFile(settings.token_file));
    while (token.ends_with('\n') || token.ends_with('\r') || token.ends_with(' ')) {
      token.pop_back();
    }
    return token.empty() ? Result<std::string>(Fail(Reason::kInvalidConfig,
                                                    settings.token_file + " holds no token"))
                         : Result<std::string>(std::move(token));
  }
  // The administrator's is needed where others have theirs.
  if (!settings.token.empty() || (settings.insecure && settings.token_auth_file.empty())) {
    return settings.token;
  }
  return base::RandomUuid();
}

Result<apiserver::ApiServerOptions> OptionsOf(const Settings& settings) {
  if (settings.threads < 1 || settings.threads > 1024 || settings.watch_window < 1) {
    return Fail(Reason::kInvalidConfig, "--threads and --watch-window must be positive");
  }
  if (settings.certificate_file.empty() != settings.key_file.empty()) {
    return Fail(Reason::kInvalidConfig,
                "--tls-cert-file and --tls-private-key-file belong together");
  }
  apiserver::ApiServerOptions options;
  options.address = settings.address;
  options.plain_http = settings.insecure;
  options.threads = static_cast<std::size_t>(settings.threads);
  options.managed_fields = settings.managed_fields;
  options.event_ttl = std::chrono::duration_cast<std::chrono::seconds>(settings.event_ttl);
  options.allowed_origins = settings.allowed_origins;
  options.allowed_hosts = settings.allowed_hosts;
  options.shared_storage = !settings.etcd.endpoints.empty();
  options.watch_window = static_cast<std::size_t>(settings.watch_window);
  if (!settings.certificate_file.empty()) {
    KX_ASSIGN_OR_RETURN(options.certificate.certificate, ReadFile(settings.certificate_file));
    KX_ASSIGN_OR_RETURN(std::string key, ReadFile(settings.key_file));
    options.certificate.key = apimachinery::Bytes(std::move(key));
  }
  if (!settings.client_ca_file.empty()) {
    KX_ASSIGN_OR_RETURN(options.client_ca, ReadFile(settings.client_ca_file));
  }
  options.rbac = settings.authorization_mode == "RBAC";
  if (!settings.token_auth_file.empty()) {
    KX_ASSIGN_OR_RETURN(const std::string text, ReadFile(settings.token_auth_file));
    auto tokens = apiserver::ParseTokenFile(text);
    if (!tokens) {
      return Fail(tokens.error().WithContext("--token-auth-file"));
    }
    options.tokens = std::move(*tokens);
  }
  // What is in etcd may be for a kube-apiserver, too.
  options.form = settings.etcd.endpoints.empty() ? apiserver::StoredForm::kJson
                                                 : apiserver::StoredForm::kProtobuf;
  KX_ASSIGN_OR_RETURN(std::string token, TokenOf(settings));
  options.token = apimachinery::Bytes(std::move(token));
  return options;
}

Result<std::unique_ptr<apiserver::storage::Storage>> StorageOf(const Settings& settings) {
  if (!settings.etcd.endpoints.empty()) {
    if (!settings.data_file.empty()) {
      return Fail(Reason::kInvalidConfig, "--etcd-servers and --data-file exclude each other");
    }
    return cmd::NewEtcdStorage(settings.etcd);
  }
  KX_ASSIGN_OR_RETURN(auto storage,
                      apiserver::storage::NewMemoryStorage({
                          .base_revision = std::chrono::duration_cast<std::chrono::microseconds>(
                                               base::Clock::Real().Wall().time_since_epoch())
                                               .count(),
                          .file = settings.data_file,
                      }));
  return std::unique_ptr<apiserver::storage::Storage>(std::move(storage));
}

/// The controllers, or none. They are clients of our own, in the name of the administrator.
Result<std::unique_ptr<apiserver::controllers::Controllers>> StartControllers(
    const Settings& settings, apiserver::ApiServer& server, const apimachinery::Bytes& token) {
  if (settings.controllers.names.empty()) {
    return nullptr;
  }
  apiserver::controllers::ControllersOptions options = settings.controllers;
  options.root_ca = server.authority();
  options.registry = &server.registry();
  rest::Config config;
  config.host = server.url();
  config.bearer_token = token.view();
  if (settings.certificate_file.empty()) {
    config.tls.ca_data = server.authority();
  } else {
    // It may be for other names than the loopback's, which is nobody but ourselves.
    config.tls.insecure_skip_verify = true;
  }
  KX_ASSIGN_OR_RETURN(auto controllers, apiserver::controllers::Controllers::New(
                                            std::move(config), server.storage(), options));
  controllers->Start();
  return controllers;
}

/// What was not given and would be made anew at each start stays as it was: a kubeconfig that was
/// written once is good for as long as the data are.
Result<void> Remember(const Settings& settings, apiserver::storage::Storage& storage,
                      apiserver::ApiServerOptions& options) {
  KX_ASSIGN_OR_RETURN(
      apiserver::ServerIdentity identity,
      apiserver::KeepIdentity(
          storage, {"localhost", "127.0.0.1", apiserver::HostOfAddress(settings.address)},
          options.clock, {}));
  if (settings.certificate_file.empty()) {
    options.certificate = std::move(identity.certificate);
  }
  if (settings.token.empty() && settings.token_file.empty()) {
    options.token = std::move(identity.token);
  }
  return {};
}

Result<void> Serve(const Settings& settings, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(apiserver::ApiServerOptions options, OptionsOf(settings));
  KX_ASSIGN_OR_RETURN(auto storage, StorageOf(settings));
  if (!settings.data_file.empty() && !settings.insecure) {
    KX_RETURN_IF_ERROR(Remember(settings, *storage, options));
  }
  const apimachinery::Bytes token = options.token;
  if (!settings.kubeconfig.empty()) {
    options.on_listening = [&settings](const std::string& text) {
      return WriteKubeconfig(settings.kubeconfig, text);
    };
  }
  apiserver::ApiServer server(std::move(storage), std::move(options));
  KX_RETURN_IF_ERROR(server.Start());
  KX_ASSIGN_OR_RETURN(const auto controllers, StartControllers(settings, server, token));
  logging::Info("Serving", {{"url", server.url()}});
  base::Mutex mu;
  base::CondVar never;
  base::MutexLock lock(mu);
  while (!stop.stop_requested()) {
    base::Clock::Real().WaitUntil(mu, never, stop, base::TimePoint::max());
  }
  return {};
}

int Main(int argc, char* const* argv) {
  Settings settings;
  flags::FlagSet flags(
      "kubexx-apiserver",
      "Serves the Kubernetes API from memory or an etcd: for tests, demos and the edge.\n"
      "Exits with 0 after SIGTERM or SIGINT, and with 1 when it cannot start or a "
      "flag is wrong.",
      KUBEXX_VERSION);
  AddFlags(flags, settings);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  const auto level = logging::ParseLevel(settings.log_level);
  logging::Init({.level = level ? *level : logging::Level::kInfo});
  if (!settings.etcd.endpoints.empty()) {
    if (const auto other = cmd::BecomeProgramWithEtcd(argv); !other) {
      logging::Error("Cannot serve", {{"error", other.error()}});
      return EXIT_FAILURE;
    }
  }
  if (const auto error = base::RaiseDescriptorLimit()) {
    logging::Warning("Cannot raise the limit of open files", {{"error", error.message()}});
  }
  const controller::StopSignals signals;
  if (const auto served = Serve(settings, signals.token()); !served) {
    logging::Error("Cannot serve", {{"error", served.error()}});
    return EXIT_FAILURE;
  }
  logging::Info("Stopped");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory or of threads
    std::cerr << "kubexx-apiserver: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
