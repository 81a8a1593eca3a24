// Makes the objects that kube-controller-manager puts into each namespace.
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/object_helpers.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::ServiceAccount;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using controller::Action;

constexpr const char* kRootCa = "kube-root-ca.crt";

/// The namespace of an object, as a request.
template <class T>
std::vector<controller::Request> NamespaceOf(const T& object) {
  std::vector<controller::Request> requests(1);
  requests.front().object.name = object.metadata.namespace_;
  return requests;
}

/// Creates `wanted` unless the cache has one of its name.
template <class T>
Result<void> Ensure(const controller::Client& client, const T& wanted) {
  if (client.Get<T>({wanted.metadata.namespace_, wanted.metadata.name})) {
    return {};
  }
  const auto created = client.Create(wanted);
  if (!created && created.error().reason != Reason::kAlreadyExists) {
    return Fail(created.error());
  }
  return {};
}

/// Puts the ConfigMap with the server's certificate authority into the namespace, and restores it
/// when somebody has changed it.
Result<void> EnsureRootCa(const controller::Client& client, const std::string& namespace_,
                          const std::string& root_ca) {
  ConfigMap wanted;
  wanted.metadata.name = kRootCa;
  wanted.metadata.namespace_ = namespace_;
  wanted.data["ca.crt"] = root_ca;
  const auto there = client.Get<ConfigMap>({namespace_, kRootCa});
  if (!there) {
    return Ensure(client, wanted);
  }
  if ((*there)->data != wanted.data) {
    ConfigMap changed = **there;
    changed.data = wanted.data;
    KX_RETURN_IF_ERROR(client.Update(changed));
  }
  return {};
}

}  // namespace

Result<void> AddNamespaceController(const Setup& setup) {
  auto reconcile = [root_ca = setup.options.root_ca](
                       const controller::Request& request,
                       controller::Context& context) -> Result<Action> {
    const auto found = context.client.Get<Namespace>(request.object);
    if (!found) {
      return controller::IgnoreNotFound(found.error());
    }
    if (controller::IsBeingDeleted(**found)) {
      return Action::Done();
    }
    ServiceAccount account;
    account.metadata.name = "default";
    account.metadata.namespace_ = request.object.name;
    KX_RETURN_IF_ERROR(Ensure(context.client, account));
    KX_RETURN_IF_ERROR(EnsureRootCa(context.client, request.object.name, root_ca));
    return Action::Done();
  };
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<Namespace>(setup.manager)
                         .Watches<ServiceAccount>(NamespaceOf<ServiceAccount>)
                         .Watches<ConfigMap>(NamespaceOf<ConfigMap>)
                         .Complete(WithExpectedErrors(std::move(reconcile))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
