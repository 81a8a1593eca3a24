// kubexx-podsource: the pods of one node, from the API server, a directory and a URL, as one list.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/process/crash_report.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/base/text/join.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/kubelet/config/api_source.h"
#include "kubexx/kubelet/config/file_source.h"
#include "kubexx/kubelet/config/http_source.h"
#include "kubexx/kubelet/config/pod_config.h"
#include "kubexx/kubelet/config/update_json.h"
#include "kubexx/kubelet/config/update_server.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using kubelet::PodConfig;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr const char* kDescription =
    R"(Merges the pods of one node from up to three sources, as the kubelet does: the API server (pods that were scheduled
to the node), a directory of manifests and a URL (static pods). Prints every change as a line of JSON, or once the whole
list. A manifest that cannot be used is reported and skipped. While a source is unavailable, its pods do not change.

Examples:
  kubexx-podsource --node-name n1 --once --output table
  kubexx-podsource --node-name n1 --pod-manifest-path /etc/kubernetes/manifests --api=false
  kubexx-podsource --node-name n1 --listen /run/podsource.sock    # then: socat - UNIX-CONNECT:/run/podsource.sock

Exit codes: 0 stopped by a signal, or the list is printed; 1 a source cannot be used, or --once did not get all sources
in time; 2 wrong usage.)";

struct Flags {
  std::string node_name{};
  rest::KubeconfigOptions kubeconfig{};
  bool api = true;
  std::string manifest_path{};
  base::Duration file_interval = std::chrono::seconds(20);
  std::string manifest_url{};
  std::vector<std::string> url_headers{};
  base::Duration http_interval = std::chrono::seconds(20);
  std::string mode = "incremental";
  std::string output = "json";
  std::string listen{};
  bool once = false;
  base::Duration wait = std::chrono::seconds(30);
};

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string();
}

void AddFlags(flags::FlagSet& set, Flags& flags) {
  set.AddString("node-name", "Name of the node; by default the host's name", &flags.node_name);
  set.AddString("kubeconfig",
                "Kubeconfig for the API server; by default $KUBECONFIG, "
                "~/.kube/config, or the service account of a pod",
                &flags.kubeconfig.path);
  set.AddString("context", "Context of the kubeconfig", &flags.kubeconfig.context);
  set.AddBool("api", "Take pods from the API server", &flags.api);
  set.AddString("pod-manifest-path", "File or directory with manifests of static pods",
                &flags.manifest_path);
  set.AddDuration("file-check-frequency",
                  "How often to read the manifests even if no change is noticed",
                  &flags.file_interval);
  set.AddString("manifest-url", "URL of a Pod or PodList of static pods", &flags.manifest_url);
  set.AddList("manifest-url-header", "Headers for requests to that URL, as NAME:VALUE",
              &flags.url_headers);
  set.AddDuration("http-check-frequency", "How often to request the URL", &flags.http_interval);
  set.AddChoice("mode", "What to print after a change",
                {"incremental", "snapshot", "snapshot-and-updates"}, &flags.mode);
  set.AddString("listen", "Unix socket to stream on instead of standard output", &flags.listen);
  set.AddBool("once", "Print the pods once every source has been read, and exit", &flags.once);
  set.AddDuration("timeout", "How long --once waits for the sources", &flags.wait);
  set.AddChoice("output", "How --once prints", {"json", "table"}, &flags.output);
}

PodConfig::Mode ModeOf(std::string_view text) {
  return text == "snapshot"      ? PodConfig::Mode::kSnapshot
         : text == "incremental" ? PodConfig::Mode::kIncremental
                                 : PodConfig::Mode::kSnapshotAndUpdates;
}

Result<std::vector<std::pair<std::string, std::string>>> HeadersOf(const Flags& flags) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const std::string& text : flags.url_headers) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0) {
      return Fail(Reason::kInvalidConfig, "--manifest-url-header: must have the form NAME:VALUE");
    }
    const std::size_t value = text.find_first_not_of(' ', colon + 1);
    headers.emplace_back(text.substr(0, colon),
                         value == std::string::npos ? std::string() : text.substr(value));
  }
  return headers;
}

/// What feeds the merged list.
struct Sources {
  std::unique_ptr<kubelet::ApiSource> api{};
  std::unique_ptr<kubelet::FileSource> file{};
  std::unique_ptr<kubelet::HttpSource> http{};
};

Result<Sources> Start(const Flags& flags, PodConfig& config) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  Sources sources;
  // All channels before any source: the list is complete when each has been heard.
  const bool with_file = !flags.manifest_path.empty();
  const bool with_http = !flags.manifest_url.empty();
  const auto channel = [&config](bool wanted, std::string_view name) {
    return wanted ? config.Channel(std::string(name)) : kubelet::PodSink();
  };
  kubelet::PodSink api = channel(flags.api, kubelet::kApiSource);
  kubelet::PodSink file = channel(with_file, kubelet::kFileSource);
  kubelet::PodSink http = channel(with_http, kubelet::kHttpSource);
  if (flags.api) {
    KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(flags.kubeconfig));
    connection.user_agent = "kubexx-podsource/" KUBEXX_VERSION;
    KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client,
                        rest::RESTClient::New(std::move(connection)));
    sources.api = std::make_unique<kubelet::ApiSource>(
        kubelet::NewPodListWatch(client, flags.node_name), std::move(api));
  }
  if (with_file) {
    kubelet::FileSource::Options options;
    options.path = flags.manifest_path;
    options.node_name = flags.node_name;
    options.interval = duration_cast<milliseconds>(flags.file_interval);
    sources.file = std::make_unique<kubelet::FileSource>(std::move(options), std::move(file));
  }
  if (with_http) {
    kubelet::HttpSource::Options options;
    options.url = flags.manifest_url;
    KX_ASSIGN_OR_RETURN(options.headers, HeadersOf(flags));
    options.node_name = flags.node_name;
    options.interval = duration_cast<milliseconds>(flags.http_interval);
    auto made = kubelet::HttpSource::New(std::move(options), std::move(http));
    if (!made) {
      return Fail(made.error().WithContext("--manifest-url"));
    }
    sources.http = *std::move(made);
  }
  return sources;
}

/// Waits for every source, or until time or a signal ends it.
Result<void> PrintOnce(const Flags& flags, const PodConfig& config, const std::stop_token& stop) {
  const base::StopTimer timer(base::Clock::Real(), stop, flags.wait);
  while (!config.Ready()) {
    if (!base::Clock::Real().SleepFor(std::chrono::milliseconds(10), timer.token())) {
      return Fail(Reason::kTimeout,
                  "no answer from these sources: " + base::Join(config.Missing(), ", "));
    }
  }
  const std::vector<kubelet::PodRef> pods = config.State();
  std::cout << (flags.output == "table"
                    ? kubelet::ToTable(pods)
                    : kubelet::ToJsonLine(
                          {kubelet::PodOperation::kSet, std::string(kubelet::kAllSources), pods}))
            << std::flush;
  return {};
}

Result<void> Run(const Flags& flags, const std::stop_token& stop) {
  std::stop_source closed;
  PodConfig config(ModeOf(flags.mode));
  base::Subscription printing;
  std::unique_ptr<kubelet::UpdateServer> server;
  if (!flags.listen.empty()) {
    KX_ASSIGN_OR_RETURN(server, kubelet::UpdateServer::Start({.path = flags.listen}, config));
  } else if (!flags.once) {
    printing = config.Subscribe([&closed](const kubelet::PodUpdate& update) {
      if (!(std::cout << kubelet::ToJsonLine(update) << std::flush)) {
        closed.request_stop();  // nobody reads any more
      }
    });
  }
  KX_ASSIGN_OR_RETURN(const Sources sources, Start(flags, config));
  if (flags.once) {
    return PrintOnce(flags, config, stop);
  }
  const std::stop_callback on_stop(stop, [&closed] { closed.request_stop(); });
  base::WaitUntilStopped(closed.get_token());
  return {};
}

int Main(int argc, char** argv) {
  base::ReportCrashes("kubexx-podsource/" KUBEXX_VERSION);
  Flags flags;
  flags.node_name = HostName();
  flags::FlagSet set("kubexx-podsource", kDescription, KUBEXX_VERSION);
  AddFlags(set, flags);
  if (const auto exit_code = set.ParseOrExitCode(argc, argv, kUsage)) {
    return *exit_code;
  }
  const auto complain = [](std::string_view what, int exit_code) {
    std::cerr << "kubexx-podsource: " << what << "\n";
    return exit_code;
  };
  if (!flags.api && flags.manifest_path.empty() && flags.manifest_url.empty()) {
    return complain("no source: give --pod-manifest-path or --manifest-url, or leave --api on",
                    kUsage);
  }
  // Of less nothing is left when they become milliseconds, and who waits for nothing never stops.
  constexpr base::Duration kLeast = std::chrono::milliseconds(1);
  if (flags.file_interval < kLeast || flags.http_interval < kLeast) {
    return complain("--file-check-frequency and --http-check-frequency must be 1ms or more",
                    kUsage);
  }
  const controller::StopSignals signals;
  if (const auto ran = Run(flags, signals.token()); !ran) {
    return complain(ran.error().message, kFailed);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory or of threads
    std::cerr << "kubexx-podsource: " << error.what() << "\n";
    return kFailed;
  }
}
