// Keeps Secrets of the type kubernetes.io/service-account-token as the tokens controller of
// kube-controller-manager does.
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/kubernetes/core_v1.gen.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::core::v1::Secret;
using api::core::v1::ServiceAccount;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using controller::Action;

constexpr const char* kTokenType = "kubernetes.io/service-account-token";
constexpr const char* kAccountName = "kubernetes.io/service-account.name";
constexpr const char* kAccountUid = "kubernetes.io/service-account.uid";
// The longest lifetime that a server gives. The token ends with its Secret.
constexpr std::int64_t kForever = std::int64_t{1} << 32;

std::string AnnotationOf(const Secret& secret, const char* name) {
  const auto found = secret.metadata.annotations.find(name);
  return found == secret.metadata.annotations.end() ? "" : found->second;
}

/// Returns a token that is valid as long as the Secret exists.
Result<std::string> NewToken(const controller::Client& client, const Secret& secret,
                             const ServiceAccount& account) {
  api::authentication::v1::TokenRequest request;
  request.spec.expiration_seconds = kForever;
  auto& bound = request.spec.bound_object_ref.emplace();
  bound.kind = "Secret";
  bound.api_version = "v1";
  bound.name = secret.metadata.name;
  bound.uid = secret.metadata.uid;
  const kubernetes::CoreV1Client core(client.rest());
  KX_ASSIGN_OR_RETURN(auto answer,
                      core.ServiceAccounts(account.metadata.namespace_)
                          .CreateToken(account.metadata.name, request, {}, client.stop()));
  return std::move(answer.status.token);
}

Result<Action> Reconcile(const controller::Client& client, const std::string& root_ca,
                         const Secret& secret) {
  const std::string name = AnnotationOf(secret, kAccountName);
  const std::string uid = AnnotationOf(secret, kAccountUid);
  if (secret.type != kTokenType || name.empty() || controller::IsBeingDeleted(secret)) {
    return Action::Done();
  }
  const auto account = client.GetLive<ServiceAccount>({secret.metadata.namespace_, name});
  if (!account && account.error().reason != Reason::kNotFound) {
    return Fail(account.error());
  }
  if (!account || (!uid.empty() && uid != account->metadata.uid)) {
    const auto deleted = client.Delete<Secret>({secret.metadata.namespace_, secret.metadata.name},
                                               {.uid = secret.metadata.uid});
    return deleted ? Result<Action>(Action::Done()) : controller::IgnoreNotFound(deleted.error());
  }
  Secret wanted = secret;
  wanted.metadata.annotations[kAccountUid] = account->metadata.uid;
  wanted.data["ca.crt"] = apimachinery::Bytes(root_ca);
  wanted.data["namespace"] = apimachinery::Bytes(secret.metadata.namespace_);
  if (const auto token = wanted.data.find("token");
      token == wanted.data.end() || token->second.empty()) {
    KX_ASSIGN_OR_RETURN(std::string made, NewToken(client, secret, *account));
    wanted.data["token"] = apimachinery::Bytes(std::move(made));
  }
  if (wanted != secret) {
    KX_RETURN_IF_ERROR(client.Update(wanted));
  }
  return Action::Done();
}

}  // namespace

Result<void> AddTokenSecretController(const Setup& setup) {
  // When an account is deleted, its Secrets are deleted, too. The cache has only Secrets of this
  // type.
  const auto of_namespace =
      [informer = setup.manager.InformerFor<Secret>()](const ServiceAccount& account) {
        std::vector<controller::Request> requests;
        for (const auto& key : informer->Keys()) {
          if (key.namespace_ == account.metadata.namespace_) {
            requests.emplace_back().object = key;
          }
        }
        return requests;
      };
  auto reconcile = [root_ca = setup.options.root_ca](
                       const controller::Request& request,
                       controller::Context& context) -> Result<Action> {
    const auto found = context.client.Get<Secret>(request.object);
    return found ? Reconcile(context.client, root_ca, **found)
                 : controller::IgnoreNotFound(found.error());
  };
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<Secret>(setup.manager)
                         .Watches<ServiceAccount>(of_namespace)
                         .Complete(std::move(reconcile)));
  return {};
}

}  // namespace kubexx::apiserver::controllers
