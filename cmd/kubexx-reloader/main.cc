// kubexx-reloader: rolls workloads when their ConfigMaps and Secrets change. Flags and wiring; the
// work is done in pkg/reloader.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "explain_command.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/config.h"
#include "kubexx/reloader/process_memory.h"
#include "process.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

int Main(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view(argv[1]) == "explain") {
    return RunExplain(argc - 1, argv + 1, Environment);
  }
  reloader::TuneAllocator();
  const controller::StopSignals signals;
  flags::FlagSet flags(
      "kubexx-reloader",
      "Rolls workloads when the data of their ConfigMaps and Secrets changes.\n"
      "`kubexx-reloader explain KIND/NAME` tells what would roll a workload.\n\n"
      "Takes the flags, annotations and environment of stakater/Reloader; list "
      "values are one CSV record and may be repeated.\nEnvironment: KUBECONFIG, "
      "KUBERNETES_NAMESPACE, POD_NAME, POD_NAMESPACE, RELOADER_NAMESPACE, "
      "RELOADER_DEPLOYMENT_NAME, METRICS_COUNT_BY_NAMESPACE, ALERT_ON_RELOAD, "
      "ALERT_SINK, ALERT_WEBHOOK_URL, ALERT_ADDITIONAL_INFO, "
      "ALERT_WEBHOOK_PROXY.\nExits with 0 after SIGTERM or SIGINT, and with 1 when "
      "it cannot start or a flag or variable is wrong.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  const auto config = config_flags.Build(Environment);
  if (!config) {
    std::cerr << "kubexx-reloader: " << config.status().message << "\n";
    return EXIT_FAILURE;
  }
  logging::Init(config->logging);
  if (const auto ran = RunProcess(*config, signals.token()); !ran) {
    logging::Error("Cannot start", {{"error", ran.status()}});
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory or of threads
    std::cerr << "kubexx-reloader: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
