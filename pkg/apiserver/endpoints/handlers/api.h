/// @file
/// The API: from a request to its answer.
#ifndef KUBEXX_APISERVER_ENDPOINTS_HANDLERS_API_H_
#define KUBEXX_APISERVER_ENDPOINTS_HANDLERS_API_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apiserver/admission/caller.h"
#include "kubexx/apiserver/endpoints/authn/authenticator.h"
#include "kubexx/apiserver/endpoints/authz/authorizer.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/discovery/health.h"
#include "kubexx/apiserver/endpoints/discovery/openapi_v2.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/request/request_info.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/upkeep/custom_resources.h"
#include "kubexx/apiserver/endpoints/upkeep/event_reaper.h"
#include "kubexx/apiserver/endpoints/upkeep/kubernetes_service.h"
#include "kubexx/apiserver/endpoints/upkeep/namespace_reaper.h"
#include "kubexx/apiserver/endpoints/upkeep/system_objects.h"
#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Settings of an Api.
struct ApiOptions {
  base::Clock& clock = base::Clock::Real();
  StoredForm form = StoredForm::kJson;
  CacherOptions cacher{};
  /// See Authenticator.
  apimachinery::Bytes token{};
  /// Whether objects have metadata.managedFields; without them every config that is applied is its
  /// manager's first.
  bool managed_fields = true;
  /// Tokens of other users.
  std::vector<UserToken> tokens{};
  /// See Authorizer.
  bool rbac = false;
  /// See GiveServiceAccount; somebody has to make each namespace's account "default" then.
  bool service_accounts = false;
  /// The names and addresses that the server goes by; see CheckHost.
  std::vector<std::string> hosts{};
  /// Whose pages may use it; see CheckOrigin.
  std::vector<std::string> origins{};
  /// Events go so long after they were last written; zero: never.
  std::chrono::seconds event_ttl = std::chrono::hours(1);
  /// Other servers write to the storage, too: their definitions of custom resources and their
  /// Services count here.
  bool shared_storage = false;
  /// What Services are given.
  ServiceRanges service_ranges{};
  /// What /metrics answers; none: 404.
  std::function<std::string()> metrics{};
  /// Asks webhooks; none: over HTTPS.
  std::shared_ptr<admission::Caller> webhook_caller{};
};

/// Everything that is served over HTTP, without the HTTP. Thread-safe; Handle may block, up to a
/// few seconds, and runs on as many threads as the caller has. It does not block for /healthz,
/// /readyz, /livez and /version.
class Api {
 public:
  /// `storage` must outlive it.
  Api(storage::Storage& storage, ApiOptions options);

  http::Response Handle(const http::Request& request);

  /// Who sends a request, if its body is to be read, by its header: see Authenticator::Admits.
  /// Nobody for a request of a page of others.
  std::optional<std::string> Admits(const http::Request& header) const {
    return CheckSender(header) ? authenticator_.Admits(header) : std::nullopt;
  }

  /// Makes what every cluster has: a key for tokens, namespaces and roles.
  apimachinery::Result<void> Bootstrap(const std::stop_token& stop);

  /// Makes the Service default/kubernetes, which leads here; see PublishService. Not while Reap
  /// runs.
  apimachinery::Result<void> Publish(const KubernetesService& service,
                                     const std::stop_token& stop) {
    return system_.Publish(service, stop);
  }

  /// To be called about once a second, by one thread: bookmarks and ends of watches, and what other
  /// servers have defined. With `stop` it returns soon; what is left is done another time.
  void Tick(const std::stop_token& stop = {});

  /// Asks the store how it is, for the pages of health; to be called by a thread of its own, every
  /// HealthPages::kInterval.
  void LookAfterStore(const std::stop_token& stop = {}) { health_.Look(stop); }

  /// Goes on with what goes with namespaces and definitions that are being deleted, and with old
  /// Events, and makes again what every cluster has: to be called by a thread of its own, at once
  /// again when it says so, else about once a second. With `stop` it returns soon.
  bool Reap(const std::stop_token& stop = {});

  /// Watches that are open.
  std::size_t watchers() const { return types_.watchers(); }

 private:
  http::Response HandleResource(const http::Request& request, const RequestInfo& info,
                                const Query& query, const User& user);
  /// Whether its sender, and not a web page in its name, makes a request with this header.
  apimachinery::Result<void> CheckSender(const http::Request& header) const;
  /// The same of a request that has been read.
  apimachinery::Result<void> CheckIntent(const http::Request& request) const;
  apimachinery::Result<void> BootstrapRoles(const std::stop_token& stop);
  /// What a write of a definition, a namespace or a configuration of webhooks changes besides.
  void AfterWrite(const Call& call);

  TypeRegistry types_;
  ObjectStore objects_;
  Webhooks webhooks_;
  CustomResources custom_;
  NamespaceReaper reaper_;
  EventReaper events_;
  SystemObjects system_;
  HealthPages health_;
  ServiceAccountTokens tokens_;
  Authenticator authenticator_;
  Authorizer authorizer_;
  OpenApiV2 openapi_v2_;
  const bool managed_fields_;
  const bool service_accounts_;
  const std::vector<std::string> hosts_;
  const std::vector<std::string> origins_;
  const std::function<std::string()> metrics_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_API_H_
