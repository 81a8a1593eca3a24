// kubexx-reloader: rolls workloads when their ConfigMaps and Secrets change. Flags, wiring and
// signals; the work is done in pkg/reloader.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "explain_command.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/config.h"
#include "kubexx/reloader/process_memory.h"
#include "process.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

/// Blocks the signals that end the process, in this thread and all it starts later, so that
/// AwaitStop gets them.
void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

/// Returns at the first of them; the next one ends the process at once. A handler, since the
/// default action does nothing to a container's first process.
void AwaitStop() {
  const sigset_t signals = StopSignals();
  int number = 0;
  sigwait(&signals, &number);
  logging::Info("Stopping", {{"signal", number == SIGTERM ? "SIGTERM" : "SIGINT"}});
  struct sigaction exit_at_once{};
  exit_at_once.sa_handler = [](int) { _exit(EXIT_FAILURE); };
  sigaction(SIGTERM, &exit_at_once, nullptr);
  sigaction(SIGINT, &exit_at_once, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

int Main(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view(argv[1]) == "explain") {
    return RunExplain(argc - 1, argv + 1, Environment);
  }
  reloader::TuneAllocator();
  BlockStopSignals();
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
  if (const auto ran = RunProcess(*config, AwaitStop); !ran) {
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
