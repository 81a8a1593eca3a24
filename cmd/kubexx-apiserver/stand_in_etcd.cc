#include "stand_in_etcd.h"

#include <signal.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/url_client.h"

namespace kubexx::cmd {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kScheme = "http://";
constexpr std::string_view kHealth = R"({"health":"true","reason":""})";
/// A client that knows nothing of stand-ins reads the version of etcd that this would be.
constexpr std::string_view kVersion =
    R"({"etcdserver":"3.6.0","etcdcluster":"3.6.0","standIn":"kubexx"})";
constexpr std::size_t kMaxVersionBytes = 4096;

http::Response Json(std::string_view text) {
  return {.content_type = "application/json", .body = std::string(text)};
}

Result<std::unique_ptr<http::Server>> ServeAt(const std::string& url) {
  std::string_view address = url;
  if (!address.starts_with(kScheme)) {
    return Fail(Reason::kInvalidConfig, "--listen-client-urls: " + url + " is no http URL");
  }
  address.remove_prefix(kScheme.size());
  address = address.substr(0, address.find('/'));
  auto server =
      std::make_unique<http::Server>(http::Server::Options{.address = std::string(address)});
  server->Handle("/health", [](const http::Request&) { return Json(kHealth); });
  server->Handle("/version", [](const http::Request&) { return Json(kVersion); });
  KX_RETURN_IF_ERROR(server->Start());
  return server;
}

/// The thread that requests run on is started by the first, before the program has said what shall
/// become of signals: it takes none, for as long as it lives.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Result<std::vector<std::unique_ptr<http::Server>>> ServeStandInEtcd(
    const StandInEtcdSettings& settings) {
  std::vector<std::unique_ptr<http::Server>> servers;
  for (const std::string& url : settings.client_urls) {
    KX_ASSIGN_OR_RETURN(auto server, ServeAt(url));
    servers.push_back(std::move(server));
  }
  return servers;
}

bool IsStandInEtcd(const std::string& url, const std::stop_token& stop) {
  if (!url.starts_with(kScheme)) {
    return false;
  }
  const WithoutSignals without_signals;
  const std::string base = url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  const auto client = rest::UrlClient::New({.url = base + "/version"});
  if (!client) {
    return false;
  }
  const auto answer = (*client)->Get({}, kMaxVersionBytes, stop);
  if (!answer || answer->status != 200) {
    return false;
  }
  const auto version = codec::JsonTree::Parse(answer->body);
  return version && version->TextAt("standIn") == "kubexx";
}

int RunStandInEtcd(int argc, const char* const* argv) {
  StandInEtcdSettings settings;
  bool ignored_switch = false;
  flags::FlagSet flags(
      "etcd",
      "Stands in for etcd beside kubexx' kube-apiserver, for envtest: says that it "
      "is healthy, and stores nothing.",
      KUBEXX_VERSION);
  flags.AddList("listen-client-urls", "The URLs to listen on.", &settings.client_urls);
  for (const char* const name :
       {"advertise-client-urls", "listen-peer-urls", "data-dir", "log-level", "logger", "name"}) {
    flags.AddCustom(name, "Is taken and has no effect here.", "string", "",
                    [](std::string_view) -> Result<void> { return {}; });
  }
  flags.AddBool("unsafe-no-fsync", "Is taken and has no effect here.", &ignored_switch);
  flags.AllowUnknown(&settings.unknown);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  logging::Init({});
  for (const std::string& flag : settings.unknown) {
    logging::Warning("The program ignores an unknown flag", {{"flag", flag}});
  }
  const controller::StopSignals signals;
  const auto servers = ServeStandInEtcd(settings);
  if (!servers) {
    logging::Error("Cannot serve in place of etcd", {{"error", servers.error()}});
    return EXIT_FAILURE;
  }
  logging::Info("This program stands in for etcd and stores nothing");
  base::WaitUntilStopped(signals.token());
  return EXIT_SUCCESS;
}

}  // namespace kubexx::cmd
