// Prints what happens to pods, from a shared informer: list, then watch, for as long as it runs.
#include <signal.h>

#include <iostream>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
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
                                     const sigset_t& stop_signals) {
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

  int signal_number = 0;
  sigwait(&stop_signals, &signal_number);
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
  // Blocked before any thread starts, so that only sigwait above gets them.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGINT);
  sigaddset(&stop_signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  if (const auto result = PrintPods(kubeconfig, namespace_, stop_signals); !result) {
    std::cerr << "pod-informer: " << result.error().ToString() << '\n';
    return 1;
  }
  return 0;
}
