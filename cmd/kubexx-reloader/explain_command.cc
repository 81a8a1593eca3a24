#include "explain_command.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "judge.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloader/operator/watch_scope.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "named_object.h"
#include "namespace_view.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Result;
using reloader::WorkloadId;

constexpr std::chrono::seconds kPatience{30};
constexpr std::string_view kExplain = "explain";

Result<void> Answer(const ExplainFlags& question, WorkloadId id, const reloader::Config& config,
                    const flags::FlagSet::GivenFlags& given) {
  KX_RETURN_IF_ERROR(reloader::CheckDigests());
  KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(config.kubeconfig));
  id.key.namespace_ = !question.namespace_.empty()    ? question.namespace_
                      : connection.namespace_.empty() ? "default"
                                                      : connection.namespace_;
  connection.user_agent = "kubexx-reloader-explain/" KUBEXX_VERSION;
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client,
                      rest::RESTClient::New(std::move(connection)));
  const base::StopTimer deadline(base::Clock::Real(), {}, kPatience);
  KX_RETURN_IF_ERROR(CheckReachable(client, deadline.token()));
  const auto labels = [&] { return LabelsOf(client, id.key.namespace_, deadline.token()); };
  const Judge judge = FindJudge(client, {id.kind, id.key.namespace_, question.operator_namespace},
                                config, given, labels, deadline.token());
  reloader::Explanation explanation{.workload = id};
  KX_ASSIGN_OR_RETURN(explanation.not_watched,
                      reloader::WhyNotWatched(id.kind, id.key.namespace_, judge.config, labels));
  if (explanation.not_watched.empty()) {
    NamespaceView view(client, judge.config, id.key.namespace_);
    KX_RETURN_IF_ERROR(view.Load(deadline.token()));
    KX_ASSIGN_OR_RETURN(explanation, view.Explain(id, deadline.token()));
    if (judge.unread) {
      if (explanation.hold) {
        explanation.further_holds.insert(explanation.further_holds.begin(), *explanation.hold);
      }
      explanation.hold = {.reason = reloadpolicy::HoldReason::kPoliciesUnread,
                          .message = *judge.unread};
    }
  }
  explanation.flags = judge.whose;
  std::cout << (question.output == "json" ? reloader::ToJson(explanation)
                                          : reloader::ToText(explanation));
  return {};
}

}  // namespace

void ExplainFlags::AddTo(flags::FlagSet& flags) {
  flags.AddString("namespace", "namespace of the workload; by default the kubeconfig's",
                  &namespace_);
  flags.AddChoice("output", "format of the answer", {"text", "json"}, &output);
  flags.AddString("operator-namespace",
                  "use the flags of the operator in this namespace; by default those of the "
                  "operator that watches the workload",
                  &operator_namespace);
  flags.AllowArguments("KIND/NAME", &arguments);
}

int RunExplain(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment) {
  flags::FlagSet flags(
      std::string(ProgramName()) + " explain",
      "Tells what would make the operator roll a workload, and why or why not: the rules, the "
      "references to ConfigMaps and Secrets, what is recorded on the workload, the policies, and "
      "what a rollout waits for.\n"
      "The command reads the cluster with your kubeconfig and writes nothing. It uses the flags "
      "that the running operator has written to the ConfigMap reloader-meta-info, and says so; "
      "flags that you give here replace them.\n"
      "-n and -o stand for --namespace and --output. The command exits with 0 when it has "
      "explained the workload, with 1 when it could not, and with 2 when the command line is "
      "wrong.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  ExplainFlags question;
  question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, ExplainFlags::kShort)) {
    return *exit_code;
  }
  const auto config = config_flags.Build(environment);
  if (config) {
    reloader::AddKindsOf(*config);
    if (const auto learnt = LearnKindOf({question.arguments, question.namespace_,
                                         question.operator_namespace, config->kubeconfig});
        !learnt) {
      Complain(kExplain, learnt.error().message);
      return 1;
    }
  }
  const auto workload = NamedWorkload(question.arguments);
  if (!workload) {
    Complain(kExplain, workload.error().message + "\nSee " + std::string(ProgramName()) +
                           " explain --help for its usage.");
    return kBadUsage;
  }
  if (!config) {
    Complain(kExplain, config.error().message);
    return 1;
  }
  // What the operator's parts log about policies and rights is in the answer, in words that are
  // true of one who only reads.
  logging::Init({.level = logging::Level::kError, .format = config->logging.format});
  if (const auto answered = Answer(question, *workload, *config, WithoutOwn(flags.given()));
      !answered) {
    Complain(kExplain, answered.error().message);
    return 1;
  }
  return 0;
}

}  // namespace kubexx
