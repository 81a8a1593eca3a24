#include "self_test_command.h"

#include <cstdio>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "explain_command.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/observe/self_testing.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Result;

constexpr int kBadSelfTestUsage = 2;

/// No other test of the namespace has it.
std::string NewTestName() {
  char text[40];
  std::snprintf(
      text, sizeof text, "kubexx-self-test-%llx",
      static_cast<unsigned long long>(base::Clock::Real().Wall().time_since_epoch().count()));
  return text;
}

Result<void> SelfTest(SelfTestFlags question, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(question.kubeconfig));
  if (question.options.namespace_.empty()) {
    question.options.namespace_ = connection.namespace_.empty() ? "default" : connection.namespace_;
  }
  question.options.name = NewTestName();
  connection.user_agent = "kubexx-reloader-self-test/" KUBEXX_VERSION;
  connection.qps = -1;
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client,
                      rest::RESTClient::New(std::move(connection)));
  const base::StopTimer deadline(base::Clock::Real(), stop, question.timeout);
  KX_RETURN_IF_ERROR(CheckReachable(client, deadline.token()));
  return reloader::RunSelfTest(
      client, question.options, [](const std::string& what) { std::cout << what << std::endl; },
      deadline.token());
}

}  // namespace

void SelfTestFlags::AddOwnTo(flags::FlagSet& flags) {
  flags.AddString("deployment", "the operator's, which has to be rolled out first",
                  &options.deployment);
  flags.AddBool("reload", "make a ConfigMap and a Deployment, and see whether it is rolled",
                &options.reload);
  flags.AddDuration("timeout", "how long all may take", &timeout);
}

void SelfTestFlags::AddTo(flags::FlagSet& flags) {
  AddOwnTo(flags);
  flags.AddString("namespace", "where to try it; by default the kubeconfig's", &options.namespace_);
  flags.AddString("configmap-annotation",
                  "annotation that names ConfigMaps, as the operator has it",
                  &options.keys.configmap_reload);
  flags.AddString("kubeconfig",
                  "kubeconfig file; by default $KUBECONFIG, then ~/.kube/config, then the pod's "
                  "service account",
                  &kubeconfig.path);
  flags.AddString("context", "context of the kubeconfig", &kubeconfig.context);
}

int RunSelfTestCommand(int argc, const char* const* argv) {
  const controller::StopSignals signals;
  flags::FlagSet flags(
      "kubexx-reloader self-test",
      "Tries out whether the operator that is installed works: it makes a ConfigMap and a "
      "Deployment without replicas, changes the ConfigMap, waits until the operator has rolled the "
      "Deployment, and deletes both. `helm test` runs it.\n"
      "Needs the rights to create, get, patch and delete ConfigMaps and Deployments in the "
      "namespace.\n"
      "-n stands for --namespace. Exits with 0 when the operator works, with 1 when it does not or "
      "that cannot be told, and with 2 when the command line is wrong.",
      KUBEXX_VERSION);
  SelfTestFlags question;
  question.AddTo(flags);
  const std::vector<const char*> arguments = ExplainFlags::WithLongNames(argc, argv);
  if (const auto exit_code = flags.ParseOrExitCode(static_cast<int>(arguments.size()),
                                                   arguments.data(), kBadSelfTestUsage)) {
    return *exit_code;
  }
  logging::Init({.level = logging::Level::kError});
  if (const auto done = SelfTest(question, signals.token()); !done) {
    std::cerr << "kubexx-reloader self-test: " << done.error().message << "\n";
    return 1;
  }
  return 0;
}

}  // namespace kubexx
