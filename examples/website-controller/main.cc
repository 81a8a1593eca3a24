// A controller for a custom resource: each Website gets a ConfigMap with its page and a Deployment
// that serves it. website.yaml is its CRD, from which `kubexx-codegen` wrote
// website_v1.gen.{h,cc}.
#include <iostream>
#include <string>
#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/create_or_update.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/controller/predicate.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "website_v1.gen.h"

using namespace kubexx;
using api::apps::v1::Deployment;
using api::core::v1::ConfigMap;
using apimachinery::Result;
using controller::Client;
using example_com::v1::Website;

namespace {

/// An object of the website's name and namespace, to be filled in.
template <class T>
T Named(const Website& site) {
  T object;
  object.metadata.name = site.metadata.name;
  object.metadata.namespace_ = site.metadata.namespace_;
  return object;
}

Result<void> EnsurePage(const Client& client, const Website& site) {
  auto page = Named<ConfigMap>(site);
  KX_RETURN_IF_ERROR(controller::CreateOrUpdate(client, page, [&site](ConfigMap& wanted) {
    wanted.data["index.html"] = site.spec.html;
    return controller::SetControllerReference(site, wanted);
  }));
  return {};
}

/// Sets what matters here in an object that may exist, and leaves the rest, such as the API
/// server's defaults, alone.
void FillPodTemplate(const Website& site, api::core::v1::PodTemplateSpec& pod) {
  pod.metadata.labels["website"] = site.metadata.name;
  pod.spec.containers.resize(1);
  auto& server = pod.spec.containers[0];
  server.name = "server";
  server.image = "busybox:1";
  server.command = {"httpd", "-f", "-p", "8080", "-h", "/www"};
  server.volume_mounts.resize(1);
  server.volume_mounts[0].name = "page";
  server.volume_mounts[0].mount_path = "/www";
  pod.spec.volumes.resize(1);
  pod.spec.volumes[0].name = "page";
  auto& source = pod.spec.volumes[0].volume_source.config_map;
  if (!source) {
    source = api::core::v1::ConfigMapVolumeSource{};
  }
  source->local_object_reference.name = site.metadata.name;
}

Result<Deployment> EnsureDeployment(const Client& client, const Website& site) {
  auto deployment = Named<Deployment>(site);
  KX_RETURN_IF_ERROR(controller::CreateOrUpdate(client, deployment, [&site](Deployment& wanted) {
    wanted.spec.replicas = site.spec.replicas.value_or(1);
    if (!wanted.spec.selector) {
      wanted.spec.selector = api::meta::v1::LabelSelector{};
    }
    wanted.spec.selector->match_labels["website"] = site.metadata.name;
    FillPodTemplate(site, wanted.spec.template_);
    return controller::SetControllerReference(site, wanted);
  }));
  return deployment;
}

Result<void> ReportStatus(const Client& client, const Website& site, const Deployment& deployment) {
  example_com::v1::WebsiteStatus status;
  status.observed_generation = site.metadata.generation;
  status.available_replicas = deployment.status.available_replicas;
  if (site.status && *site.status == status) {
    return {};
  }
  Website changed = site;
  changed.status = status;
  KX_RETURN_IF_ERROR(client.UpdateStatus(changed));
  return {};
}

Result<controller::Action> Reconcile(const controller::Request& request,
                                     controller::Context& context) {
  const auto site = context.client.Get<Website>(request.object);
  if (!site) {
    return controller::IgnoreNotFound(site.error());
  }
  if (controller::IsBeingDeleted(**site)) {
    return controller::Action::Done();  // what it owns is collected after it
  }
  KX_RETURN_IF_ERROR(EnsurePage(context.client, **site));
  KX_ASSIGN_OR_RETURN(const Deployment deployment, EnsureDeployment(context.client, **site));
  KX_RETURN_IF_ERROR(ReportStatus(context.client, **site, deployment));
  return controller::Action::Done();
}

struct Arguments {
  std::string kubeconfig{};
  std::string http_address = ":8080";
  bool leader_elect = false;
};

Result<void> Run(const Arguments& arguments, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(rest::Config config, rest::LoadConfig({.path = arguments.kubeconfig}));
  controller::ManagerOptions options;
  options.http = {.address = arguments.http_address};
  if (arguments.leader_elect) {
    options.leader_election = {.lease = {config.namespace_, "website-controller"}};
  }
  KX_ASSIGN_OR_RETURN(auto manager,
                      controller::Manager::New(std::move(config), std::move(options)));
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<Website>(*manager)
                         .WithPredicates(controller::predicates::GenerationChanged())
                         .Owns<ConfigMap>()
                         .Owns<Deployment>()
                         .MaxConcurrentReconciles(2)
                         .Complete(Reconcile));
  return manager->Run(stop);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  flags::FlagSet flags("website-controller", "Serves the pages of Website resources.");
  flags.AddString("kubeconfig", "kubeconfig file (default: as kubectl, or in a pod)",
                  &arguments.kubeconfig);
  flags.AddString("http-address", "serves /metrics, /healthz and /readyz", &arguments.http_address);
  flags.AddBool("leader-elect", "wait for the Lease website-controller, so that several may run",
                &arguments.leader_elect);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  controller::StopSignals signals;
  if (const auto ran = Run(arguments, signals.token()); !ran) {
    std::cerr << "website-controller: " << ran.error().ToString() << '\n';
    return 1;
  }
  return 0;
}
