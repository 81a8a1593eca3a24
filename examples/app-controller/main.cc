// Runs the application that a ConfigMap with the label `app-controller` describes: its keys
// `image`, `replicas` and `port`. Five kinds: the ConfigMap, and the ServiceAccount, Secret,
// Deployment and Service that it owns.
#include <charconv>
#include <iostream>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/create_or_update.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/controller/stop_signals.h"

namespace {

using namespace kubexx;
using api::apps::v1::Deployment;
using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using api::core::v1::Service;
using api::core::v1::ServiceAccount;
using apimachinery::Result;
using controller::Client;

template <typename T>
T Named(const ConfigMap& app) {
  T object;
  object.metadata.namespace_ = app.metadata.namespace_;
  object.metadata.name = app.metadata.name;
  return object;
}

// A number below 65,536 in the ConfigMap, or what stands for it.
int Number(const ConfigMap& app, const std::string& key, int otherwise) {
  const auto found = app.data.find(key);
  int number = otherwise;
  if (found != app.data.end()) {
    const auto& text = found->second;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || number < 0 || number > 65535) {
      return otherwise;
    }
  }
  return number;
}

Result<void> EnsureIdentity(const Client& client, const ConfigMap& app) {
  auto account = Named<ServiceAccount>(app);
  KX_RETURN_IF_ERROR(controller::CreateOrUpdate(client, account, [&](ServiceAccount& wanted) {
    wanted.automount_service_account_token = false;
    return controller::SetControllerReference(app, wanted);
  }));
  auto secret = Named<Secret>(app);
  KX_RETURN_IF_ERROR(controller::CreateOrUpdate(client, secret, [&](Secret& wanted) {
    return controller::SetControllerReference(app, wanted);  // its data is for people to fill in
  }));
  return {};
}

Result<void> EnsureDeployment(const Client& client, const ConfigMap& app) {
  auto deployment = Named<Deployment>(app);
  KX_RETURN_IF_ERROR(controller::CreateOrUpdate(client, deployment, [&](Deployment& wanted) {
    const std::map<std::string, std::string> labels = {{"app", app.metadata.name}};
    wanted.spec.replicas = Number(app, "replicas", 1);
    if (!wanted.spec.selector) {
      wanted.spec.selector = api::meta::v1::LabelSelector{};
    }
    wanted.spec.selector->match_labels = labels;
    auto& pod = wanted.spec.template_;
    pod.metadata.labels = labels;
    pod.spec.service_account_name = app.metadata.name;
    pod.spec.containers.resize(1);
    auto& container = pod.spec.containers[0];
    container.name = "app";
    container.image = app.data.at("image");
    container.env_from.resize(1);
    auto& from = container.env_from[0].secret_ref;
    if (!from) {
      from = api::core::v1::SecretEnvSource{};
    }
    from->local_object_reference.name = app.metadata.name;
    return controller::SetControllerReference(app, wanted);
  }));
  return {};
}

Result<void> EnsureService(const Client& client, const ConfigMap& app) {
  auto service = Named<Service>(app);
  KX_RETURN_IF_ERROR(controller::CreateOrUpdate(client, service, [&](Service& wanted) {
    wanted.spec.selector = {{"app", app.metadata.name}};
    wanted.spec.ports.resize(1);
    wanted.spec.ports[0].port = Number(app, "port", 80);
    return controller::SetControllerReference(app, wanted);
  }));
  return {};
}

Result<controller::Action> Reconcile(const controller::Request& request,
                                     controller::Context& context) {
  const auto app = context.client.Get<ConfigMap>(request.object);
  if (!app) {
    return controller::IgnoreNotFound(app.error());
  }
  if (controller::IsBeingDeleted(**app) || !(*app)->metadata.labels.contains("app-controller") ||
      !(*app)->data.contains("image")) {
    return controller::Action::Done();
  }
  KX_RETURN_IF_ERROR(EnsureIdentity(context.client, **app));
  KX_RETURN_IF_ERROR(EnsureDeployment(context.client, **app));
  KX_RETURN_IF_ERROR(EnsureService(context.client, **app));
  return controller::Action::Done();
}

Result<void> Run(const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(rest::Config config, rest::LoadConfig());
  KX_ASSIGN_OR_RETURN(auto manager, controller::Manager::New(
                                        std::move(config), {.http = {{.address = "127.0.0.1:0"}}}));
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<ConfigMap>(*manager)
                         .Owns<ServiceAccount>()
                         .Owns<Secret>()
                         .Owns<Deployment>()
                         .Owns<Service>()
                         .Complete(Reconcile));
  return manager->Run(stop);
}

}  // namespace

int main() {
  controller::StopSignals signals;
  if (const auto ran = Run(signals.token()); !ran) {
    std::cerr << "app-controller: " << ran.error().ToString() << '\n';
    return 1;
  }
  return 0;
}
