/// @file
/// The API: turns a request into its response.
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
#include "kubexx/apiserver/endpoints/store/waiting_storage.h"
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
  /// Whether objects have metadata.managedFields. Without them, the server treats every applied
  /// config as the first one of its manager.
  bool managed_fields = true;
  /// The bearer tokens of other users.
  std::vector<UserToken> tokens{};
  /// See Authorizer.
  bool rbac = false;
  /// Whether new pods get what GiveServiceAccount adds. Then a controller has to make the service
  /// account "default" in each namespace.
  bool service_accounts = false;
  /// The names and addresses of the server itself; see CheckHost.
  std::vector<std::string> hosts{};
  /// The origins of web pages that may use the server; see CheckOrigin.
  std::vector<std::string> origins{};
  /// The server deletes an Event this long after its last write. With zero it never does.
  std::chrono::seconds event_ttl = std::chrono::hours(1);
  /// Whether other servers write to the same storage, which is then behind a network. Then this
  /// server also follows their definitions of custom resources and their Services, and answers what
  /// it can while the storage hangs; see WaitingStorage.
  bool shared_storage = false;
  /// The IP addresses and node ports that the server gives to Services.
  ServiceRanges service_ranges{};
  /// Makes the response of /metrics. When it is not set, /metrics answers with 404.
  std::function<std::string()> metrics{};
  /// How many watches one user may have open; see OpenWatches.
  std::size_t watches_per_user = 4096;
  /// Calls webhooks. When it is null, the server makes a caller that uses HTTPS.
  std::shared_ptr<admission::Caller> webhook_caller{};
};

/// Answers all requests of the server, without the HTTP server itself. Thread-safe. Handle may
/// block for up to a few seconds, on the caller's thread; it does not block for /healthz, /readyz,
/// /livez and /version.
class Api {
 public:
  /// `storage` must outlive it.
  Api(storage::Storage& storage, ApiOptions options);

  http::Response Handle(const http::Request& request);

  /// The sender of a request, found by its header, when the server should read the body; see
  /// Authenticator::Admits. std::nullopt when CheckSender refuses the request.
  std::optional<std::string> Admits(const http::Request& header) const {
    return CheckSender(header) ? authenticator_.Admits(header) : std::nullopt;
  }

  /// Creates what every cluster has: a key for tokens, namespaces and roles.
  apimachinery::Result<void> Bootstrap(const std::stop_token& stop);

  /// Creates the Service default/kubernetes, which leads to this server; see PublishService. Must
  /// not run at the same time as Reap or Handle.
  apimachinery::Result<void> Publish(const KubernetesService& service, const std::stop_token& stop);

  /// Sends bookmarks, ends watches and reads the definitions of other servers. One thread must call
  /// it about once a second. When `stop` is requested it returns soon; the rest is done in a later
  /// call.
  void Tick(const std::stop_token& stop = {});

  /// Checks the health of the store, for the health pages. A separate thread must call it every
  /// HealthPages::kInterval.
  void LookAfterStore(const std::stop_token& stop = {}) { health_.Look(stop); }

  /// Continues to delete old Events and the objects of namespaces and definitions that are being
  /// deleted, and creates system objects again that somebody has deleted. A separate thread must
  /// call it: again at once when it returns true, otherwise about once a second. When `stop` is
  /// requested it returns soon.
  bool Reap(const std::stop_token& stop = {});

  /// The number of open watches.
  std::size_t watchers() const { return types_.watchers(); }

 private:
  http::Response HandleKnown(const http::Request& request, const User& authenticated);
  http::Response HandleResource(const http::Request& request, const RequestInfo& info,
                                const Query& query, const User& user);
  /// Checks that the sender makes the request with this header, and not a web page in the sender's
  /// browser.
  apimachinery::Result<void> CheckSender(const http::Request& header) const;
  /// The same check for a request whose body has been read.
  apimachinery::Result<void> CheckIntent(const http::Request& request) const;
  /// Applies the effects of a write to a definition, a namespace or a webhook configuration.
  void AfterWrite(const Call& call);

  storage::Storage& StorageFor(storage::Storage& storage) {
    return waiting_ == nullptr ? storage : *waiting_;
  }

  const std::unique_ptr<WaitingStorage> waiting_;  // null when nobody else writes to the storage
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
  OpenWatches open_watches_;
  OpenApiV2 openapi_v2_;
  const bool managed_fields_;
  const bool service_accounts_;
  const std::vector<std::string> hosts_;
  const std::vector<std::string> origins_;
  const std::function<std::string()> metrics_;
  std::string url_{std::string(kApiAudience)};  // where others reach the server; set by Publish
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_API_H_
