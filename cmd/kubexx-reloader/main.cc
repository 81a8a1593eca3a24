// kubexx-reloader: rolls workloads when their ConfigMaps and Secrets change. Flags, wiring and
// signals; the work is done in pkg/reloader.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/metrics/process_metrics.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/config.h"
#include "kubexx/reloader/kubernetes_io.h"
#include "kubexx/reloader/operator.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using apimachinery::Result;

/// A stream of changes is acted on after this many settle windows at the latest.
constexpr int kMaxSettleWindows = 10;

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

Result<std::shared_ptr<rest::RESTClient>> Connect(const reloader::Config& config,
                                                  metrics::Registry& registry) {
  KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(config.kubeconfig));
  connection.qps = config.qps;
  connection.burst = config.burst;
  connection.user_agent = "kubexx-reloader/" KUBEXX_VERSION;
  connection.timeout = std::chrono::seconds(30);
  return rest::RESTClient::New(std::move(connection), {.registry = &registry});
}

std::vector<reloader::InformerSet> Informers(const std::shared_ptr<rest::RESTClient>& client,
                                             const reloader::Config& config,
                                             metrics::Registry& registry) {
  const reloader::WatchSettings settings{.keys = config.rules.keys,
                                         .source_label_selector = config.source_label_selector,
                                         .ignored_types = config.ignored_types,
                                         .registry = &registry};
  std::vector<reloader::InformerSet> informers;
  for (const std::string& name : config.namespaces) {
    informers.push_back(reloader::NewInformers(client, name, settings));
  }
  if (informers.empty()) {
    informers.push_back(reloader::NewInformers(client, "", settings));
  }
  return informers;
}

Result<void> Run(const reloader::Config& config) {
  logging::Info("Starting kubexx-reloader", {{"version", KUBEXX_VERSION}});
  for (const std::string& warning : config.warnings) {
    logging::Warning(warning);
  }
  metrics::Registry registry;
  const base::Subscription process_metrics = metrics::RegisterProcessMetrics(registry);
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client, Connect(config, registry));
  const std::unique_ptr<reloader::WorkloadWriter> writer = reloader::NewWriter(client);
  reloader::Operator reloader({.rules = config.rules,
                               .ignored_namespaces = config.ignored_namespaces,
                               .settle = {.window = config.settle_window,
                                          .max_delay = kMaxSettleWindows * config.settle_window},
                               .workers = config.workers,
                               .registry = &registry,
                               .count_by_namespace = config.count_by_namespace},
                              Informers(client, config, registry), *writer);
  metrics::HttpServer server({.address = config.metrics_address});
  server.Handle("/metrics", metrics::MetricsHandler(registry));
  server.Handle("/live",
                [](const metrics::HttpRequest&) { return metrics::HttpResponse{.body = "alive"}; });
  server.Handle("/ready", [&reloader](const metrics::HttpRequest&) {
    return reloader.Ready()
               ? metrics::HttpResponse{.body = "ready"}
               : metrics::HttpResponse{.status = 503, .body = "waiting for the first lists"};
  });
  KX_RETURN_IF_ERROR(server.Start());
  reloader.Start();
  AwaitStop();
  reloader.Stop();
  server.Stop();
  logging::Info("Stopped");
  return {};
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

int Main(int argc, const char* const* argv) {
  BlockStopSignals();
  flags::FlagSet flags("kubexx-reloader",
                       "Rolls Deployments, DaemonSets and StatefulSets when the data of their "
                       "ConfigMaps and Secrets changes.",
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
  if (const auto ran = Run(*config); !ran) {
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
