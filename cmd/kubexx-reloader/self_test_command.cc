#include "self_test_command.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/stop_timer.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/observe/self_testing.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Result;

/// Stands for --settle-window. The chart sets it instead of the flag: the image that it is given
/// may be of a version that does not know the flag, which would be an error, and ignores the
/// variable.
constexpr char kSettleWindowVariable[] = "SELF_TEST_SETTLE_WINDOW";

/// No other test of the namespace has it.
std::string NewTestName() {
  char text[40];
  std::snprintf(
      text, sizeof text, "kubexx-self-test-%llx",
      static_cast<unsigned long long>(base::Clock::Real().Wall().time_since_epoch().count()));
  return text;
}

/// In a pod that has just begun, the network may not let it out yet.
Result<void> AwaitReachable(const std::shared_ptr<rest::RESTClient>& client,
                            const std::stop_token& stop) {
  base::Clock& clock = base::Clock::Real();
  const base::TimePoint give_up = clock.Now() + std::chrono::seconds(10);
  while (true) {
    const auto reachable = CheckReachable(client, stop);
    if (reachable || clock.Now() >= give_up ||
        !clock.SleepFor(std::chrono::milliseconds(500), stop)) {
      return reachable;
    }
  }
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
  const base::StopTimer deadline(base::Clock::Real(), stop,
                                 question.timeout + question.settle_window);
  KX_RETURN_IF_ERROR(AwaitReachable(client, deadline.token()));
  return reloader::RunSelfTest(
      client, question.options, [](const std::string& what) { std::cout << what << std::endl; },
      deadline.token());
}

}  // namespace

void SelfTestFlags::AddOwnTo(flags::FlagSet& flags) {
  flags.AddString("deployment",
                  "the operator's Deployment, whose rollout the command first waits for",
                  &options.deployment);
  flags.AddBool("reload",
                "make a ConfigMap and a Deployment, and test whether the operator rolls it",
                &options.reload);
  flags.AddDuration("timeout", "how long the whole test may take", &timeout);
}

void SelfTestFlags::AddTo(flags::FlagSet& flags) {
  AddOwnTo(flags);
  flags.AddString("namespace", "namespace to test in; by default the kubeconfig's",
                  &options.namespace_);
  flags.AddDuration("settle-window",
                    "the operator's settle window; the test may take longer than --timeout by it",
                    &settle_window);
  flags.AddString("configmap-annotation",
                  "annotation that names ConfigMaps, as in the operator's flags",
                  &options.keys.configmap_reload);
  reloader::AddKubeconfigFlags(flags, kubeconfig);
}

int RunSelfTestCommand(int argc, const char* const* argv) {
  const controller::StopSignals signals;
  flags::FlagSet flags(
      std::string(ProgramName()) + " self-test",
      "Tests whether the installed operator works: the command makes a ConfigMap and a Deployment "
      "without replicas, changes the ConfigMap, waits until the operator has rolled the "
      "Deployment, and deletes both. `helm test` runs this command.\n"
      "It needs the rights to create, get, patch and delete ConfigMaps and Deployments in the "
      "namespace.\n"
      "-n stands for --namespace. The environment variable SELF_TEST_SETTLE_WINDOW stands for "
      "--settle-window. The command exits with 0 when the operator works, with 1 when "
      "the operator does not work or the command could not find out, and with 2 when the command "
      "line is wrong.",
      KUBEXX_VERSION);
  SelfTestFlags question;
  question.AddTo(flags);
  std::vector<const char*> words(argv, argv + argc);
  std::string of_environment;
  if (const char* window = std::getenv(kSettleWindowVariable);
      window != nullptr && *window != '\0' && argc > 0) {
    of_environment = std::string("--settle-window=") + window;
    words.insert(words.begin() + 1, of_environment.c_str());  // before the flags, which count more
  }
  if (const auto exit_code = ParseCommandLine(flags, static_cast<int>(words.size()), words.data(),
                                              SelfTestFlags::kShort)) {
    return *exit_code;
  }
  logging::Init({.level = logging::Level::kError});
  if (const auto done = SelfTest(question, signals.token()); !done) {
    Complain("self-test", done.error().message);
    return 1;
  }
  return 0;
}

}  // namespace kubexx
