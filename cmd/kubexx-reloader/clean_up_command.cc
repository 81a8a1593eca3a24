#include "clean_up_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/reloader/write/clean_up.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kCleanUp = "clean-up";

Result<std::shared_ptr<rest::RESTClient>> ClientFor(const CleanUpFlags& question) {
  KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(question.kubeconfig));
  connection.qps = static_cast<double>(question.qps);
  connection.burst = static_cast<int>(std::clamp<std::int64_t>(question.qps, 1, 1000));
  connection.user_agent = "kubexx-reloader-clean-up/" KUBEXX_VERSION;
  return rest::RESTClient::New(std::move(connection));
}

/// kConflict when an operator runs that would write the same again.
Result<void> CheckNobodyRuns(const FoundOperators& operators, const CleanUpFlags& question) {
  if (operators.running.empty() || question.force) {
    return {};
  }
  const apimachinery::ObjectKey& deployment = operators.running.front().deployment;
  const std::string which =
      deployment.name.empty() ? "in namespace " + deployment.namespace_ : deployment.ToString();
  const std::string text = "the operator " + which + " runs, and would write the same again";
  if (question.options.dry_run) {
    Complain(kCleanUp, text + "; uninstall it first");
    return {};
  }
  return Fail(Reason::kConflict, text + ": uninstall it first, or give --force");
}

bool Concerns(const CleanUpFlags& question, const std::string& namespace_) {
  const std::vector<std::string>& wanted = question.options.namespaces;
  return wanted.empty() || std::ranges::find(wanted, namespace_) != wanted.end();
}

/// Whether all namespaces that the operator has worked on are among those that are cleaned up.
bool IncludesAllOf(const CleanUpFlags& question, const reloader::ToldOperator& told) {
  if (question.options.namespaces.empty()) {
    return true;
  }
  const auto config = ConfigWith(told.arguments, {});
  return config && !config->namespaces.empty() &&
         std::ranges::all_of(config->namespaces,
                             [&](const std::string& name) { return Concerns(question, name); });
}

/// Whether everything went well; says on standard error what did not.
Result<bool> CleanUpCluster(const CleanUpFlags& question, const std::stop_token& stop) {
  const reloader::CleanUpOptions& options = question.options;
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client, ClientFor(question));
  KX_RETURN_IF_ERROR(CheckReachable(client, stop));
  const auto operators = FindOperators(client, "", stop);
  if (operators) {
    if (const std::vector<std::string> left_out = AddKindsOf(*operators); !left_out.empty()) {
      return Fail(Reason::kConflict,
                  left_out.front() + "; say with --workload-kinds which one you mean");
    }
    KX_RETURN_IF_ERROR(CheckNobodyRuns(*operators, question));
  } else {
    Complain(kCleanUp, "whether an operator runs is not known: " + operators.error().message);
  }
  const auto on_workload = [&options](const reloader::Traces& traces, const Result<void>& written) {
    if (written) {
      std::cout << reloader::CleanUpLine(traces, options) << std::endl;
    } else {
      std::cerr << reloader::KindName(traces.workload.kind) << " " << traces.workload.key.ToString()
                << ": failed: " << written.error().message << "\n";
    }
  };
  const auto on_failure = [](const apimachinery::Status& error) {
    Complain(kCleanUp, error.message);
  };
  const auto counts = reloader::CleanUp(client, options, on_workload, on_failure, stop);
  KX_RETURN_IF_ERROR(counts);
  bool is_well = counts->failed == 0;
  const bool is_whole = is_well && options.label_selector.empty();
  for (const reloader::ToldOperator& told :
       operators ? operators->gone : std::vector<reloader::ToldOperator>()) {
    const apimachinery::ObjectKey& gone = told.deployment;
    if (!Concerns(question, gone.namespace_)) {
      continue;
    }
    // It names the described kinds, which the next run needs to know.
    if (!is_whole || !IncludesAllOf(question, told)) {
      std::cout << "ConfigMap " << gone.namespace_ << "/reloader-meta-info: is kept, as not all "
                << "workloads are clean; it tells a further run which kinds to look at"
                << std::endl;
      continue;
    }
    const auto cleaned = CleanUpOwn(
        client, gone.namespace_, options.dry_run,
        [&](const std::string& object) {
          std::cout << object << (options.dry_run ? ": would be deleted" : ": deleted")
                    << std::endl;
        },
        stop);
    if (!cleaned) {
      Complain(kCleanUp, cleaned.error().message);
      is_well = false;
    }
  }
  std::cout << reloader::CleanUpSummary(*counts, options);
  return is_well;
}

}  // namespace

void CleanUpFlags::AddOwnTo(flags::FlagSet& flags) {
  flags.AddString("selector", "only workloads with these labels", &options.label_selector);
  flags.AddBool("templates",
                "also remove what is in pod templates, the variables STAKATER_... and annotations, "
                "which makes new pods",
                &options.removal.templates);
  flags.AddBool("resume",
                "also resume Deployments that an operator has paused, which rolls out what has "
                "changed meanwhile",
                &options.removal.pauses);
  flags.AddBool("force", "go on although an operator runs, which would write its traces again",
                &force);
}

void CleanUpFlags::AddTo(flags::FlagSet& flags) {
  AddOwnTo(flags);
  flags.AddBool("dry-run", "only tell what would be removed; --dry-run=false removes it",
                &options.dry_run);
  flags.AddList("namespaces", "only workloads in these namespaces; by default in all",
                &options.namespaces);
  flags.AddString("workload-kinds",
                  "also workloads of these kinds, as for an operator; those of operators that have "
                  "published themselves in a ConfigMap reloader-meta-info are known",
                  &workload_kinds);
  flags.AddString("pause-deployment-time-annotation",
                  "annotation in which the operator records when a pause began",
                  &options.keys.paused_at);
  flags.AddInt("kube-api-qps",
               "limit of requests per second to the API server; negative means none", &qps);
  reloader::AddKubeconfigFlags(flags, kubeconfig);
}

int RunCleanUp(int argc, const char* const* argv) {
  const controller::StopSignals signals;
  flags::FlagSet flags(
      std::string(ProgramName()) + " clean-up",
      "Removes from workloads what kubexx-reloader and stakater/Reloader have left there, for when "
      "you uninstall them: the annotations reloader.kubexx.io/baseline, .../history, "
      ".../last-rollout, "
      ".../rollout-state, .../rolled-data, .../template-generation and .../status-before, "
      "kubexx.io/rolled-for, and "
      "the mark of a "
      "pause that is over. This rolls no workload.\n"
      "The command leaves what is in pod templates unless you give --templates, because removing "
      "that makes new pods. It leaves a pause that lasts unless you give --resume. It never "
      "touches what people have set. It also deletes the ConfigMaps and Leases of operators that "
      "are gone.\n"
      "Unless you give --dry-run=false, the command only tells what it would do, with a line for "
      "each workload. It uses your kubeconfig; you may interrupt it and run it again.\n"
      "-n and -l stand for --namespaces and --selector. The command exits with 0 when everything "
      "is done, with 1 when something failed, an operator runs, or it was interrupted, and with 2 "
      "when the command line is wrong.",
      KUBEXX_VERSION);
  CleanUpFlags question;
  question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, CleanUpFlags::kShort)) {
    return *exit_code;
  }
  // Mostly of a variable that is not set: all namespaces are not meant by that.
  const std::vector<std::string>& names = question.options.namespaces;
  const auto is_namespaces = [](const auto& flag) { return flag.first == "namespaces"; };
  if (std::ranges::find(names, "") != names.end() ||
      (names.empty() && std::ranges::any_of(flags.given(), is_namespaces))) {
    Complain(kCleanUp,
             "--namespaces has an empty name; leave the flag out to clean up all namespaces");
    return kBadUsage;
  }
  const auto kinds = reloader::ParseCustomKinds(question.workload_kinds, reloader::OwnResources());
  if (!kinds) {
    Complain(kCleanUp, "--workload-kinds: " + kinds.error().message);
    return kBadUsage;
  }
  reloader::AddCustomKinds(*kinds);
  // What the writers log about rights is told of each workload.
  logging::Init({.level = logging::Level::kError});
  const auto done = CleanUpCluster(question, signals.token());
  if (!done) {
    Complain(kCleanUp, done.error().message);
  }
  return done && *done ? 0 : 1;
}

}  // namespace kubexx
