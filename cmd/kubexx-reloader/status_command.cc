#include "status_command.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <stop_token>

#include "connection.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/observe/cluster_status.h"
#include "kubexx/reloader/operator/config.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Result;
using reloadpolicy::v1alpha1::ClusterReloadPolicy;
using reloadpolicy::v1alpha1::ReloadPolicy;

constexpr std::chrono::seconds kStatusPatience{30};
constexpr char kStatus[] = "status";

/// Adds the policies of one type.
template <class Policy>
void AddPolicies(const std::shared_ptr<rest::RESTClient>& client, const std::string& namespace_,
                 const std::string& what, const std::stop_token& stop,
                 reloader::ClusterStatus& status) {
  const kubernetes::ResourceClient<Policy> policies(client, namespace_);
  const auto list = policies.List({}, stop);
  if (!list) {
    if (list.error().reason == apimachinery::Reason::kNotFound) {
      status.not_installed.push_back(what);
    } else {
      status.unknown.push_back(what + ": " + list.error().message);
    }
    return;
  }
  for (const Policy& each : list->items) {
    status.policies.push_back(reloader::StandingOf(each));
  }
}

Result<reloader::ClusterStatus> ReadStatus(const StatusFlags& question) {
  const base::StopTimer deadline(base::Clock::Real(), {}, kStatusPatience);
  KX_ASSIGN_OR_RETURN(const Connection connection,
                      Connect(question.kubeconfig, question.namespace_, kStatus, deadline.token()));
  reloader::ClusterStatus status;
  if (const auto found = FindOperators(connection.client, "", deadline.token())) {
    for (const reloader::ToldOperator& each : found->running) {
      status.operators.push_back(each.deployment.ToString());
    }
  } else {
    status.unknown.push_back("the operators: " + found.error().message);
  }
  AddPolicies<ReloadPolicy>(connection.client,
                            question.all_namespaces ? std::string() : connection.namespace_,
                            "ReloadPolicies", deadline.token(), status);
  AddPolicies<ClusterReloadPolicy>(connection.client, "", "ClusterReloadPolicies", deadline.token(),
                                   status);
  return status;
}

}  // namespace

void StatusFlags::AddTo(flags::FlagSet& flags) {
  flags.AddString("namespace", "namespace of the ReloadPolicies; by default the kubeconfig's",
                  &namespace_);
  flags.AddBool("all-namespaces", "the ReloadPolicies of all namespaces", &all_namespaces);
  flags.AddChoice("output", "format of the answer", {"text", "json"}, &output);
  reloader::AddKubeconfigFlags(flags, kubeconfig);
}

int RunStatus(int argc, const char* const* argv) {
  flags::FlagSet flags(
      std::string(ProgramName()) + " status",
      "Tells which operators there are, and for each ReloadPolicy of the namespace and each "
      "ClusterReloadPolicy which rollouts are under way, wait or have failed, and why.\n"
      "The command reads the cluster with your kubeconfig and writes nothing. -n, -A and -o stand "
      "for --namespace, --all-namespaces and --output. It exits with 0 when it has told what it "
      "may read, with 1 when the cluster does not answer, and with 2 when the command line is "
      "wrong.",
      KUBEXX_VERSION);
  StatusFlags question;
  question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, StatusFlags::kShort)) {
    return *exit_code;
  }
  logging::Init({.level = logging::Level::kError});
  const auto status = ReadStatus(question);
  if (!status) {
    Complain(kStatus, status.error().message);
    return 1;
  }
  std::cout << (question.output == "json" ? reloader::ToJson(*status) : reloader::ToText(*status));
  return 0;
}

}  // namespace kubexx
