// Lists pods once, with the typed client: the place to start.
#include <iostream>
#include <string>
#include <utility>

#include "kubexx/flags/flags.h"
#include "kubexx/kubernetes/clientset.gen.h"
#include "kubexx/kubernetes/core_v1.gen.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

using namespace kubexx;

namespace {

struct Arguments {
  std::string kubeconfig{};
  std::string namespace_{};
  std::string selector{};
};

apimachinery::Result<void> ListPods(const Arguments& arguments) {
  // A kubeconfig as kubectl finds it, or the service account's mount in a pod.
  KX_ASSIGN_OR_RETURN(rest::Config config, rest::LoadConfig({.path = arguments.kubeconfig}));
  KX_ASSIGN_OR_RETURN(auto client, rest::RESTClient::New(std::move(config)));

  const auto pods = kubernetes::Clientset(client).CoreV1().Pods(arguments.namespace_);
  KX_ASSIGN_OR_RETURN(const auto list, pods.List({.label_selector = arguments.selector}));
  for (const auto& pod : list.items) {
    std::cout << pod.metadata.namespace_ << '/' << pod.metadata.name << '\t' << pod.status.phase
              << '\t' << pod.spec.node_name << '\n';
  }
  std::cout << list.items.size() << " pods at resource version " << list.metadata.resource_version
            << '\n';
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  flags::FlagSet flags("pod-lister", "Lists the pods of a cluster or of a namespace.");
  flags.AddString("kubeconfig", "kubeconfig file (default: as kubectl)", &arguments.kubeconfig);
  flags.AddString("namespace", "only this namespace", &arguments.namespace_);
  flags.AddString("selector", "only pods with these labels", &arguments.selector);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  if (const auto result = ListPods(arguments); !result) {
    std::cerr << "pod-lister: " << result.error().ToString() << '\n';
    return 1;
  }
  return 0;
}
