/// @file
/// The API: from a request to its answer.
#ifndef KUBEXX_APISERVER_ENDPOINTS_API_H_
#define KUBEXX_APISERVER_ENDPOINTS_API_H_

#include <functional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apiserver/endpoints/authenticator.h"
#include "kubexx/apiserver/endpoints/authorizer.h"
#include "kubexx/apiserver/endpoints/call.h"
#include "kubexx/apiserver/endpoints/namespace_reaper.h"
#include "kubexx/apiserver/endpoints/object_store.h"
#include "kubexx/apiserver/endpoints/request_info.h"
#include "kubexx/apiserver/endpoints/type_registry.h"
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
  /// What /metrics answers; none: 404.
  std::function<std::string()> metrics{};
};

/// Everything that is served over HTTP, without the HTTP. Thread-safe; Handle may block, up to a
/// few seconds, and runs on as many threads as the caller has.
class Api {
 public:
  /// `storage` must outlive it.
  Api(storage::Storage& storage, ApiOptions options);

  http::Response Handle(const http::Request& request);

  /// Makes what every cluster has: a key for tokens, namespaces and, with RBAC, roles.
  apimachinery::Result<void> Bootstrap(const std::stop_token& stop);

  /// To be called about once a second: bookmarks and ends of watches.
  void Tick();

  /// Watches that are open.
  std::size_t watchers() const { return types_.watchers(); }

 private:
  http::Response HandleResource(const http::Request& request, const RequestInfo& info,
                                const Query& query, const User& user);
  apimachinery::Result<void> BootstrapRoles(const std::stop_token& stop);
  /// What a write of a definition or a namespace changes besides.
  void AfterWrite(const Call& call);

  TypeRegistry types_;
  ObjectStore objects_;
  NamespaceReaper reaper_;
  ServiceAccountTokens tokens_;
  Authenticator authenticator_;
  Authorizer authorizer_;
  const bool managed_fields_;
  const std::function<std::string()> metrics_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_API_H_
