/// @file
/// One request for a resource, on its way through the handlers.
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
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/apiserver/endpoints/request/request_info.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// What handlers work with; they must not keep it.
struct Call {
  const http::Request& request;
  const RequestInfo& info;
  const Query& query;
  const ResourceTypeRef& type;
  /// That of the type which the path names; null when it names none, or one that there is not.
  const Subresource* subresource;
  const AnswerForm& form;
  const User& user;
  const Authenticator& authenticator;
  const ServiceAccountTokens& tokens;
  Authorizer& authorizer;
  TypeRegistry& types;
  ObjectStore& objects;
  Webhooks& webhooks;
  /// What webhooks want the client to know, however the request ends.
  std::vector<std::string>& warnings;
  /// Whether metadata.managedFields are kept.
  bool managed_fields = true;
  /// Whether new pods get what their service accounts have for them.
  bool service_accounts = false;

  apimachinery::ObjectKey key() const {
    return {.namespace_ = type->namespaced ? info.namespace_ : std::string(), .name = info.name};
  }
  /// Whether the user may write `object` instead of `current`, which is null for a create: no Role
  /// may grant more than its writer has, and only who may sign says what is signed. Every handler
  /// that writes objects asks; kForbidden.
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
  /// Whether the user may also create what an update or apply has not found: who may change objects
  /// may not therefore make them. kForbidden.
  apimachinery::Result<void> CheckCreate() const {
    RequestInfo create = info;
    create.verb = "create";
    return authorizer.Check(user, AttributesOf(request, create, query), request.stop);
  }
  /// Whether it is about how many replicas the object has.
  bool of_scale() const {
    return subresource != nullptr && subresource->is == Subresource::Is::kScale;
  }
  /// "?dryRun=All".
  bool dry_run() const { return Param(query, "dryRun") == "All"; }
};

/// kInvalid for a dry run of another kind than "All": nothing is written that was not meant to be.
apimachinery::Result<void> CheckDryRun(const Call& call);
/// The same of the body of a deletion.
apimachinery::Result<void> CheckDryRun(const codec::JsonTree& delete_options);

/// A handler's answer: an error becomes a Status.
using Answer = apimachinery::Result<http::Response>;

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_CALL_H_
