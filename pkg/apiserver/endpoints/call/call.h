/// @file
/// One request for a resource, as handlers get it.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CALL_CALL_H_
#define KUBEXX_APISERVER_ENDPOINTS_CALL_CALL_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/authn/authenticator.h"
#include "kubexx/apiserver/endpoints/authn/service_account_tokens.h"
#include "kubexx/apiserver/endpoints/authz/authorizer.h"
#include "kubexx/apiserver/endpoints/call/open_watches.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/apiserver/endpoints/request/request_info.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// The request and everything that handlers need for it. Handlers must not keep it.
struct Call {
  const http::Request& request;
  const RequestInfo& info;
  const Query& query;
  const ResourceTypeRef& type;
  /// The subresource of the type that the path names; null when it names none, or one that the type
  /// does not have.
  const Subresource* subresource;
  const AnswerForm& form;
  const User& user;
  const Authenticator& authenticator;
  const ServiceAccountTokens& tokens;
  Authorizer& authorizer;
  TypeRegistry& types;
  ObjectStore& objects;
  Webhooks& webhooks;
  OpenWatches& open_watches;
  /// Warnings of webhooks for the client. It gets them however the request ends.
  std::vector<std::string>& warnings;
  /// Whether the server keeps metadata.managedFields.
  bool managed_fields = true;
  /// Whether new pods get the parts of their service accounts; see GiveServiceAccount.
  bool service_accounts = false;

  apimachinery::ObjectKey key() const {
    return {.namespace_ = type->namespaced ? info.namespace_ : std::string(), .name = info.name};
  }
  /// Checks whether the user may write `object` instead of `current` (null for a create) under
  /// Authorizer::CheckGrant. Every handler that writes objects must call it. Returns kForbidden
  /// when the user may not.
  apimachinery::Result<void> CheckGrant(const codec::JsonTree* current,
                                        const codec::JsonTree& object) const {
    return authorizer.CheckGrant(user,
                                 {.type = *type,
                                  .subresource = info.subresource,
                                  .namespace_ = info.namespace_,
                                  .name = info.name,
                                  .current = current,
                                  .object = object},
                                 request.stop);
  }
  /// Checks whether the user may create the object that an update or apply has not found, because
  /// the right to change objects does not include that. Returns kForbidden when the user may not.
  apimachinery::Result<void> CheckCreate() const {
    RequestInfo create = info;
    create.verb = "create";
    return authorizer.Check(user, AttributesOf(request, create, query), request.stop);
  }
  /// Whether the request is for the subresource "scale".
  bool of_scale() const {
    return subresource != nullptr && subresource->is == Subresource::Is::kScale;
  }
  /// Whether the query has "dryRun=All".
  bool dry_run() const { return Param(query, "dryRun") == "All"; }
};

/// Returns kInvalid when the parameter dryRun has another value than "All", so that nothing is
/// written by mistake.
apimachinery::Result<void> CheckDryRun(const Call& call);
/// The same for the DeleteOptions of a deletion.
apimachinery::Result<void> CheckDryRun(const codec::JsonTree& delete_options);

/// The answer of a handler. An error becomes a Status.
using Answer = apimachinery::Result<http::Response>;

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_CALL_H_
