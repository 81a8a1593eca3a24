#include "history_command.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <stop_token>
#include <utility>

#include "connection.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/history/history_view.h"
#include "kubexx/reloader/operator/config.h"
#include "named_object.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using reloader::WorkloadKind;

constexpr std::chrono::seconds kHistoryPatience{60};
constexpr char kHistory[] = "history";

dynamic::DynamicResource ObjectsOf(const Connection& connection,
                                   const apimachinery::ResourceInfo& resource) {
  return dynamic::DynamicClient(connection.client)
      .Resource({std::string(resource.group), std::string(resource.version),
                 std::string(resource.plural)},
                connection.namespace_);
}

/// The histories of all workloads in the namespace. What may not be listed is added to `problems`.
Result<std::vector<reloader::WorkloadHistory>> AllHistories(const Connection& connection,
                                                            const std::stop_token& stop,
                                                            std::vector<std::string>& problems) {
  std::vector<reloader::WorkloadHistory> all;
  for (const WorkloadKind kind : reloader::AllWorkloadKinds()) {
    const apimachinery::ResourceInfo& resource = reloader::ResourceOf(kind);
    const auto list = ObjectsOf(connection, resource).List({}, stop);
    if (stop.stop_requested()) {
      return apimachinery::Fail(Reason::kTimeout, "the API server does not answer in time");
    }
    const bool is_denied = !list && (list.error().reason == Reason::kForbidden ||
                                     list.error().reason == Reason::kUnauthorized);
    // Who may not list what the server does not have is refused, too.
    if (!list && !reloader::IsBuiltIn(kind) &&
        (is_denied || list.error().reason == Reason::kNotFound)) {
      continue;
    }
    if (!list) {
      problems.push_back(std::string(resource.plural) +
                         " cannot be listed: " + list.error().message);
      continue;
    }
    for (const dynamic::Unstructured& object : list->items) {
      auto history = reloader::WorkloadHistoryOf(kind, object);
      if (history) {
        all.push_back(*std::move(history));
      } else {
        problems.push_back(std::string(KindName(kind)) + " " + object.Name() +
                           " cannot be read: " + history.error().message);
      }
    }
  }
  return all;
}

/// What is to be shown.
Result<std::string> HistoryAnswer(const HistoryFlags& question, const NamedObject& named) {
  const base::StopTimer deadline(base::Clock::Real(), {}, kHistoryPatience);
  const std::stop_token stop = deadline.token();
  KX_ASSIGN_OR_RETURN(const Connection connection,
                      Connect(question.kubeconfig, question.namespace_, kHistory, stop));
  const bool is_json = question.output == "json";
  // Also a workload's history may name sources of described kinds.
  std::vector<std::string> problems;
  if (const auto operators = FindOperators(connection.client, question.operator_namespace, stop)) {
    problems = AddKindsOf(*operators);
  }
  if (const auto kind = reloader::ParseWorkloadKind(named.resource->kind)) {
    KX_ASSIGN_OR_RETURN(const dynamic::Unstructured object,
                        ObjectsOf(connection, *named.resource).Get(named.name, {}, stop));
    KX_ASSIGN_OR_RETURN(const reloader::WorkloadHistory history,
                        reloader::WorkloadHistoryOf(*kind, object));
    return is_json ? reloader::ToJson(history) : reloader::ToText(history);
  }
  const auto type = reloader::TypeCalled(&reloader::SourceTypeNames::kind, named.resource->kind);
  if (!type) {
    return apimachinery::Fail(Reason::kInternalError, "neither a workload nor a source");
  }
  KX_ASSIGN_OR_RETURN(const auto all, AllHistories(connection, stop, problems));
  reloader::SourceHistory history =
      reloader::SourceHistoryOf({*type, {connection.namespace_, named.name}}, all);
  history.problems.insert(history.problems.end(), problems.begin(), problems.end());
  return is_json ? reloader::ToJson(history) : reloader::ToText(history);
}

/// The object that the arguments name, if it can have a history.
Result<NamedObject> ObjectWithHistory(const std::vector<std::string>& arguments) {
  KX_ASSIGN_OR_RETURN(NamedObject named, ObjectNamed(arguments));
  if (!Includes(NamedKinds::kWorkloadsAndSources, *named.resource)) {
    return apimachinery::Fail(
        Reason::kInvalidConfig,
        "a " + std::string(named.resource->kind) +
            " has no history; give a workload or a source, such as a ConfigMap or a Secret");
  }
  return named;
}

}  // namespace

void HistoryFlags::AddTo(flags::FlagSet& flags) {
  flags.AddString("namespace", "namespace of the object; by default the kubeconfig's", &namespace_);
  flags.AddChoice("output", "format of the answer", {"text", "json"}, &output);
  flags.AddString("operator-namespace",
                  "take kinds of --workload-kinds as the operator in this namespace describes them",
                  &operator_namespace);
  reloader::AddKubeconfigFlags(flags, kubeconfig);
  flags.AllowArguments("KIND/NAME", &arguments);
}

int RunHistory(int argc, const char* const* argv) {
  flags::FlagSet flags(
      std::string(ProgramName()) + " history",
      "Shows the last rollouts of a workload that an operator with --history has made: when each "
      "began, for which keys of which sources, who had written these, how it ended, and how long "
      "it took. For a ConfigMap, Secret or SecretProviderClass it shows the rollouts of all "
      "workloads of its namespace that were made for it.\n"
      "The command reads the cluster with your kubeconfig, writes nothing, and shows no values. "
      "-n and -o stand for --namespace and --output. The command exits with 0 when it has shown "
      "the history, also when there is none, with 1 when it could not be read, and with 2 when the "
      "command line is wrong.",
      KUBEXX_VERSION);
  HistoryFlags question;
  question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, HistoryFlags::kShort)) {
    return *exit_code;
  }
  if (const auto learnt = LearnKindOf({question.arguments, question.namespace_,
                                       question.operator_namespace, question.kubeconfig});
      !learnt) {
    Complain(kHistory, learnt.error().message);
    return 1;
  }
  const auto named = ObjectWithHistory(question.arguments);
  if (!named) {
    Complain(kHistory, named.error().message + "\nSee " + std::string(ProgramName()) +
                           " history --help for its usage.");
    return kBadUsage;
  }
  logging::Init({.level = logging::Level::kError});
  const auto answer = HistoryAnswer(question, *named);
  if (!answer) {
    Complain(kHistory, answer.error().message);
    return 1;
  }
  std::cout << *answer;
  return 0;
}

}  // namespace kubexx
