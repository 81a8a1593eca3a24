// kubexx-apiserver: a Kubernetes API server in one small process. Flags, wiring and signals; the
// work is done in pkg/apiserver.
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "etcd.h"
#include "kube_flags.h"
#include "kubexx/apiserver/controllers/controllers.h"
#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/server/server_identity.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/process/crash_report.h"
#include "kubexx/base/process/descriptor_limit.h"
#include "kubexx/base/replace_file.h"
#include "kubexx/base/unused_memory.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/certwatcher/cert_watcher.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "settings.h"
#include "stand_in_etcd.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using cmd::Settings;

Result<void> WriteKubeconfig(const std::string& name, const std::string& text) {
  if (const auto error = base::ReplaceFile(name, text, 0600)) {  // There is a token in it.
    return Fail(Reason::kInvalidConfig,
                "cannot write the kubeconfig to " + name + ": " + error.message());
  }
  return {};
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
  options.elects_leader = !settings.etcd.endpoints.empty();  // others may use the same etcd
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
  KX_ASSIGN_OR_RETURN(apiserver::ServerIdentity identity,
                      apiserver::KeepIdentity(storage, options.clock, {}));
  if (settings.certificate_file.empty() && !settings.insecure) {
    options.authority = std::move(identity.authority);
  }
  // Without TLS there may be none, and everybody is the administrator.
  if (settings.token.empty() && settings.token_file.empty() && !options.token.empty()) {
    options.token = std::move(identity.token);
  }
  return {};
}

Result<void> Serve(const Settings& settings, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(apiserver::ApiServerOptions options, cmd::OptionsOf(settings));
  KX_ASSIGN_OR_RETURN(auto storage, StorageOf(settings));
  if (!settings.data_file.empty()) {
    KX_RETURN_IF_ERROR(Remember(settings, *storage, options));
  }
  const apimachinery::Bytes token = options.token;
  if (!settings.kubeconfig.empty()) {
    options.on_listening = [&settings](const std::string& text) {
      return WriteKubeconfig(settings.kubeconfig, text);
    };
  }
  std::unique_ptr<certwatcher::CertWatcher> certificates;
  if (!settings.certificate_file.empty() && !settings.insecure) {
    KX_ASSIGN_OR_RETURN(
        certificates, certwatcher::CertWatcher::New({.certificate_file = settings.certificate_file,
                                                     .key_file = settings.key_file}));
    options.certificate_provider = certificates->Provider();
  }
  options.release_memory = base::ReleaseUnusedMemory;
  apiserver::ApiServer server(std::move(storage), std::move(options));
  KX_RETURN_IF_ERROR(server.Start());
  KX_ASSIGN_OR_RETURN(const auto controllers, StartControllers(settings, server, token));
  logging::Info("Serving the Kubernetes API", {{"url", server.url()}});
  base::WaitUntilStopped(stop);
  return {};
}

/// Serves what the settings say, until a signal comes.
int Run(Settings& settings, char* const* argv) {
  if (!settings.etcd.endpoints.empty()) {
    if (cmd::IsStandInEtcd(settings.etcd.endpoints.front(), {})) {
      logging::Info("The given etcd is a stand-in that stores nothing; objects are kept in memory");
      settings.etcd = {};
    } else if (const auto other = cmd::BecomeProgramWithEtcd(argv); !other) {
      logging::Error("Cannot start kubexx-apiserver-etcd", {{"error", other.error()}});
      return EXIT_FAILURE;
    }
  }
  // A file that may not become larger is an error of the write, not the end of the process.
  ::signal(SIGXFSZ, SIG_IGN);
  if (const auto error = base::RaiseDescriptorLimit()) {
    logging::Warning("Cannot raise the limit of open files", {{"error", error.message()}});
  }
  const controller::StopSignals signals;
  if (const auto served = Serve(settings, signals.token()); !served) {
    logging::Error("Cannot serve the Kubernetes API", {{"error", served.error()}});
    return EXIT_FAILURE;
  }
  logging::Info("The server has stopped");
  return EXIT_SUCCESS;
}

int RunKubeApiserver(int argc, char* const* argv) {
  Settings settings;
  cmd::KubeFlags kube;
  flags::FlagSet flags("kube-apiserver",
                       "kubexx-apiserver with the flags of kube-apiserver, for envtest and other "
                       "programs that start that one.",
                       KUBEXX_VERSION);
  cmd::AddKubeFlags(flags, kube, settings);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  logging::Init({});
  for (const std::string& flag : kube.unknown) {
    logging::Warning("The server ignores an unknown flag", {{"flag", flag}});
  }
  if (const auto taken = cmd::TakeKubeFlags(kube, settings); !taken) {
    logging::Error("Cannot use the flags of kube-apiserver", {{"error", taken.error()}});
    return EXIT_FAILURE;
  }
  return Run(settings, argv);
}

int RunKubexxApiserver(int argc, char* const* argv) {
  Settings settings;
  flags::FlagSet flags(
      "kubexx-apiserver",
      "Serves the Kubernetes API from memory or an etcd: for tests, demos and the edge.\n"
      "Exits with 0 after SIGTERM or SIGINT, and with 1 when it cannot start or a "
      "flag is wrong.",
      KUBEXX_VERSION);
  cmd::AddFlags(flags, settings);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  const auto level = logging::ParseLevel(settings.log_level);
  logging::Init({.level = level ? *level : logging::Level::kInfo});
  return Run(settings, argv);
}

/// The program has other names, too, which say what it shall be.
int Main(int argc, char* const* argv) {
  base::ReportCrashes("kubexx-apiserver/" KUBEXX_VERSION);
  std::string_view name = argc == 0 ? "" : argv[0];
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  if (name == "etcd") {
    return cmd::RunStandInEtcd(argc, argv);
  }
  return name == "kube-apiserver" ? RunKubeApiserver(argc, argv) : RunKubexxApiserver(argc, argv);
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
