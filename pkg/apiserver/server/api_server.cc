#include "kubexx/apiserver/server/api_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/response/error_response.h"
#include "kubexx/apiserver/server/server_identity.h"
#include "kubexx/apiserver/server/serving_certificate.h"
#include "kubexx/base/identity.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/metrics/process_metrics.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

/// kube-apiserver accepts this size, which is a little more than the largest value of etcd.
constexpr std::size_t kMaxBodyBytes = 3 << 20;
/// Anybody can make the server hold this much memory, so it is less than kube-apiserver's 1 MiB.
constexpr std::size_t kMaxHeaderBytes = 128 << 10;
/// The time for the handshake and the header of a client that has not been authenticated yet.
constexpr std::chrono::seconds kReadTime{10};
/// Connections are kept for as long as client libraries keep them.
constexpr std::chrono::seconds kIdleTime{180};
constexpr std::chrono::seconds kRequestTime{60};
/// How long the requests that are being answered may take once the server has to stop. It is less
/// than the half minute that a pod has by default.
constexpr std::chrono::seconds kDrainTime{10};

/// Longer than the few milliseconds that it takes to look for what may be given back.
constexpr base::Duration kFirstRelease = std::chrono::seconds(2);  // what the start needed
constexpr std::chrono::seconds kReleaseInterval{30};

/// These paths are answered in any state of the server.
constexpr const char* kHealthPaths[] = {"/healthz", "/readyz", "/livez"};

constexpr std::string_view kMethods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};

/// Some descriptors are kept for the store, for clients in this process, and for refusing
/// connections.
std::size_t MaxConnections(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return wanted;
  }
  const auto descriptors = static_cast<std::size_t>(limit.rlim_cur);
  return std::min(wanted, std::max<std::size_t>(descriptors / 2, 8));
}

ApiOptions ApiOptionsOf(const ApiServerOptions& options, const metrics::Registry& registry) {
  ApiOptions api{.clock = options.clock,
                 .form = options.form,
                 .cacher = {.clock = options.clock, .window = options.watch_window},
                 .managed_fields = options.managed_fields};
  api.token = options.token;
  api.tokens = options.tokens;
  api.rbac = options.rbac;
  api.event_ttl = options.event_ttl;
  api.service_accounts = options.service_accounts;
  api.shared_storage = options.shared_storage;
  api.service_ranges = options.service_ranges;
  api.hosts = options.allowed_hosts;
  api.hosts.push_back(HostOfAddress(options.address));
  api.hosts.push_back(base::HostName());
  api.origins = options.allowed_origins;
  api.watches_per_user = MaxConnections(options.max_connections) / 2;
  api.metrics = [&registry] { return registry.Serialize(); };
  return api;
}

/// The reason of the answer to a request that cannot be read.
apimachinery::Reason ReasonOfRefusal(int status) {
  using apimachinery::Reason;
  return status == 413   ? Reason::kRequestEntityTooLarge
         : status == 400 ? Reason::kBadRequest
                         : Reason::kUnknown;
}

http::Server::Options HttpOptionsOf(const ApiServerOptions& options) {
  http::Server::Options http;
  http.address = options.address;
  http.max_connections = MaxConnections(options.max_connections);
  http.max_header_bytes = kMaxHeaderBytes;
  http.max_body_bytes = kMaxBodyBytes;
  http.read_timeout = kReadTime;
  http.idle_timeout = kIdleTime;
  http.write_timeout = kRequestTime;
  http.handler_threads = options.threads;
  http.handler_timeout = kRequestTime;
  http.timeout_response = [] {
    return ErrorResponse({apimachinery::Reason::kTimeout,
                          "request did not complete within the allotted timeout", 504});
  };
  http.refusal = [](int status, const std::string& text) {
    return ErrorResponse({ReasonOfRefusal(status), text, status});
  };
  if (!options.plain_http) {
    http.tls.emplace();
    http.tls->certificate = options.certificate_provider
                                ? options.certificate_provider
                                : http::FixedCertificate(options.certificate);
    http.tls->client_ca = options.client_ca;
    http.tls->client_certificate_optional = true;
  }
  return http;
}

JsonTree Named(const char* name, const char* member, JsonTree value) {
  JsonTree one = JsonTree::Object();
  one["name"] = name;
  one[member] = std::move(value);
  JsonTree list = JsonTree::Array();
  list.Append(std::move(one));
  return list;
}

}  // namespace

ApiServer::ApiServer(std::unique_ptr<storage::Storage> storage, Options options)
    : storage_(std::move(storage)),
      options_(std::move(options)),
      api_(*storage_, ApiOptionsOf(options_, registry_)),
      process_metrics_(metrics::RegisterProcessMetrics(registry_)),
      watch_metrics_(registry_.OnScrape([this] {
        registry_
            .Gauge("apiserver_longrunning_requests", "Requests that last: open watches.",
                   {{"verb", "WATCH"}})
            .Set(static_cast<double>(api_.watchers()));
      })) {}

http::Response ApiServer::Serve(const http::Request& request) {
  const auto handle = [this](const http::Request& asked) { return api_.Handle(asked); };
  http::Response response = options_.around ? options_.around(request, handle) : handle(request);
  // A method that the client has made up must not become a label.
  const bool known = std::ranges::find(kMethods, request.method) != std::end(kMethods);
  registry_
      .Counter(
          "apiserver_request_total", "Requests by method and status code.",
          {{"verb", known ? request.method : "other"}, {"code", std::to_string(response.status)}})
      .Increment();
  return response;
}

ApiServer::~ApiServer() { Stop(); }

Result<void> ApiServer::Start() {
  if (!options_.plain_http) {
    KX_RETURN_IF_ERROR(PrepareCertificate());
  }
  KX_RETURN_IF_ERROR(api_.Bootstrap({}));
  http::Server::Options http = HttpOptionsOf(options_);
  http.admit = [this](const http::Request& header) { return api_.Admits(header); };
  http.on_listening = [this] { return OnListening(); };
  http_ = std::make_unique<http::Server>(std::move(http));
  for (const char* const path : kHealthPaths) {
    http_->HandleAtOnce(path, [this](const http::Request& request) { return Serve(request); });
  }
  http_->HandleOthers([this](const http::Request& request) { return Serve(request); });
  KX_RETURN_IF_ERROR(http_->Start());
  ticker_ = std::jthread([this](const std::stop_token& stop) { Tick(stop); });
  reaper_ = std::jthread([this](const std::stop_token& stop) { Reap(stop); });
  looker_ = std::jthread([this](const std::stop_token& stop) { LookAfterStore(stop); });
  return {};
}

Result<void> ApiServer::PrepareCertificate() {
  if (options_.certificate_provider || !options_.certificate.certificate.empty()) {
    options_.authority = {};
    if (options_.certificate_provider) {
      options_.certificate = *options_.certificate_provider();
    }
    return {};
  }
  if (options_.authority.certificate.empty()) {
    KX_ASSIGN_OR_RETURN(options_.authority, NewServerAuthority(options_.clock));
  }
  KX_ASSIGN_OR_RETURN(
      auto own, ServingCertificate::New(options_.authority,
                                        {"localhost", "127.0.0.1", HostOfAddress(options_.address)},
                                        options_.clock));
  options_.certificate_provider = [own = std::move(own)] { return own->Current(); };
  return {};
}

Result<void> ApiServer::OnListening() {
  const std::string& address = options_.address;
  KX_RETURN_IF_ERROR(
      api_.Publish({.address = options_.advertise_address.empty()
                                   ? ReachableAddress(address.substr(0, address.rfind(':')))
                                   : options_.advertise_address,
                    .port = port(),
                    .plain_http = options_.plain_http},
                   {}));
  return options_.on_listening ? options_.on_listening(kubeconfig()) : Result<void>();
}

void ApiServer::Stop() {
  // What a client has asked for may be in the store already, so that it should learn that.
  if (http_ != nullptr) {
    http_->Drain(kDrainTime);
  }
  ticker_.request_stop();
  reaper_.request_stop();
  looker_.request_stop();
  ticker_ = {};  // this also stops what it is doing
  reaper_ = {};
  looker_ = {};
  if (http_ != nullptr) {
    http_->Stop();
  }
}

void ApiServer::Tick(const std::stop_token& stop) {
  base::TimePoint release = options_.clock.Now() + kFirstRelease;
  while (options_.clock.SleepFor(std::chrono::seconds(1), stop)) {
    api_.Tick(stop);
    if (options_.release_memory && options_.clock.Now() >= release) {
      options_.release_memory();
      release = options_.clock.Now() + kReleaseInterval;
    }
  }
}

void ApiServer::Reap(const std::stop_token& stop) {
  while (api_.Reap(stop) || options_.clock.SleepFor(std::chrono::seconds(1), stop)) {
  }
}

void ApiServer::LookAfterStore(const std::stop_token& stop) {
  do {
    api_.LookAfterStore(stop);
  } while (options_.clock.SleepFor(HealthPages::kInterval, stop));
}

std::uint16_t ApiServer::port() const { return http_ == nullptr ? 0 : http_->port(); }

std::string ApiServer::url() const {
  return (options_.plain_http ? "http://" : "https://") + HostOfAddress(options_.address) + ":" +
         std::to_string(port());
}

std::string ApiServer::kubeconfig() const {
  JsonTree cluster = JsonTree::Object();
  cluster["server"] = url();
  if (!options_.plain_http) {
    std::string authority;
    codec::AppendBase64(this->authority(), authority);
    cluster["certificate-authority-data"] = std::move(authority);
  }
  JsonTree user = JsonTree::Object();
  if (!options_.token.empty()) {
    user["token"] = options_.token.view();
  }
  JsonTree context = JsonTree::Object();
  context["cluster"] = "kubexx";
  context["user"] = "admin";
  JsonTree config = JsonTree::Object();
  config["apiVersion"] = "v1";
  config["kind"] = "Config";
  config["current-context"] = "kubexx";
  config["clusters"] = Named("kubexx", "cluster", std::move(cluster));
  config["users"] = Named("admin", "user", std::move(user));
  config["contexts"] = Named("kubexx", "context", std::move(context));
  const auto yaml = codec::JsonToYaml(config.ToJson());
  return yaml ? *yaml : config.ToJson();
}

}  // namespace kubexx::apiserver
