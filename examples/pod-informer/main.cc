// Prints what happens to pods, from a shared informer: list, then watch, for as long as it runs.
#include <iostream>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

using namespace kubexx;
using api::core::v1::Pod;
using PodRef = cache::Ref<Pod>;

namespace {

void Print(const char* what, const Pod& pod) {
  std::cout << what << '\t' << pod.metadata.namespace_ << '/' << pod.metadata.name << '\t'
            << pod.status.phase << std::endl;
}

apimachinery::Result<void> PrintPods(const std::string& kubeconfig, const std::string& namespace_,
                                     const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(rest::Config config, rest::LoadConfig({.path = kubeconfig}));
  KX_ASSIGN_OR_RETURN(auto client, rest::RESTClient::New(std::move(config)));

  informers::SharedInformerFactory factory(client, {.namespace_ = namespace_});
  const auto pods = factory.InformerFor<Pod>();
  // Ends with the subscription. Events of one handler come one after the other.
  const base::Subscription subscription = pods->AddEventHandler(
      "printer", {.on_add = [](const PodRef& pod,
                               bool initial) { Print(initial ? "present" : "added", *pod); },
                  .on_update =
                      [](const PodRef& old_pod, const PodRef& pod) {
                        if (old_pod->status.phase != pod->status.phase) {
                          Print("phase", *pod);
                        }
                      },
                  .on_delete = [](const PodRef& pod, bool) { Print("deleted", *pod); }});
  factory.Start();

  base::WaitUntilStopped(stop);
  std::cout << pods->Size() << " pods in " << pods->StoreBytes() << " bytes" << std::endl;
  factory.Shutdown();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::string kubeconfig;
  std::string namespace_;
  flags::FlagSet flags("pod-informer", "Prints what happens to pods until it is interrupted.");
  flags.AddString("kubeconfig", "kubeconfig file (default: as kubectl)", &kubeconfig);
  flags.AddString("namespace", "only this namespace", &namespace_);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  // Before any thread starts, so that none of them gets the signals.
  const controller::StopSignals signals;
  if (const auto result = PrintPods(kubeconfig, namespace_, signals.token()); !result) {
    std::cerr << "pod-informer: " << result.error().ToString() << '\n';
    return 1;
  }
  return 0;
}
