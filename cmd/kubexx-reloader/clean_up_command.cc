#include "clean_up_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/write/clean_up.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr int kBadCleanUpUsage = 2;
constexpr char kCleanUpName[] = "kubexx-reloader clean-up: ";

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
    std::cerr << kCleanUpName << text << "; uninstall it first\n";
    return {};
  }
  return Fail(Reason::kConflict, text + ": uninstall it first, or give --force");
}

bool Concerns(const CleanUpFlags& question, const std::string& namespace_) {
  const std::vector<std::string>& wanted = question.options.namespaces;
  return wanted.empty() || std::ranges::find(wanted, namespace_) != wanted.end();
}

/// Whether everything went well; says on standard error what did not.
Result<bool> CleanUpCluster(const CleanUpFlags& question, const std::stop_token& stop) {
  const reloader::CleanUpOptions& options = question.options;
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client, ClientFor(question));
  KX_RETURN_IF_ERROR(CheckReachable(client, stop));
  const auto operators = FindOperators(client, "", stop);
  if (operators) {
    KX_RETURN_IF_ERROR(CheckNobodyRuns(*operators, question));
  } else {
    std::cerr << kCleanUpName
              << "whether an operator runs is not known: " << operators.error().message << "\n";
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
    std::cerr << kCleanUpName << error.message << "\n";
  };
  const auto counts = reloader::CleanUp(client, options, on_workload, on_failure, stop);
  KX_RETURN_IF_ERROR(counts);
  bool is_well = counts->failed == 0;
  for (const apimachinery::ObjectKey& gone :
       operators ? operators->gone : std::vector<apimachinery::ObjectKey>()) {
    if (!Concerns(question, gone.namespace_)) {
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
      std::cerr << kCleanUpName << cleaned.error().message << "\n";
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
                "also what is in pod templates, the variables STAKATER_... and annotations: new "
                "pods come of that",
                &options.removal.templates);
  flags.AddBool("resume",
                "also resume Deployments that an operator has paused: pods follow what has changed "
                "meanwhile",
                &options.removal.pauses);
  flags.AddBool("force", "go on though an operator runs, which writes the same again", &force);
}

void CleanUpFlags::AddTo(flags::FlagSet& flags) {
  AddOwnTo(flags);
  flags.AddBool("dry-run", "only tell what would be taken away; --dry-run=false does it",
                &options.dry_run);
  flags.AddList("namespaces", "these only; by default all", &options.namespaces);
  flags.AddString("pause-deployment-time-annotation",
                  "annotation in which the operator has kept the begin of pauses",
                  &options.keys.paused_at);
  flags.AddInt("kube-api-qps", "requests a second to the API server; negative for no limit", &qps);
  flags.AddString("kubeconfig",
                  "kubeconfig file; by default $KUBECONFIG, then ~/.kube/config, then the pod's "
                  "service account",
                  &kubeconfig.path);
  flags.AddString("context", "context of the kubeconfig", &kubeconfig.context);
}

std::vector<const char*> CleanUpFlags::WithLongNames(int argc, const char* const* argv) {
  std::vector<const char*> arguments;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    arguments.push_back(argument == "-n"   ? "--namespaces"
                        : argument == "-l" ? "--selector"
                                           : argv[i]);
  }
  return arguments;
}

int RunCleanUp(int argc, const char* const* argv) {
  const controller::StopSignals signals;
  flags::FlagSet flags(
      "kubexx-reloader clean-up",
      "Takes away what kubexx-reloader and stakater/Reloader have left on workloads, for when they "
      "are uninstalled: the annotations reloader.kubexx.io/baseline, .../last-rollout, "
      ".../rollout-state and .../template-generation, kubexx.io/rolled-for, and the mark of a "
      "pause that is over. Nothing rolls by that. What is in pod templates stays unless "
      "--templates is given, since taking it away makes new pods; so does a pause that lasts, "
      "unless --resume is given. What people have set is never touched.\n"
      "Of operators that are gone it deletes the ConfigMaps and Leases, too.\n"
      "It only tells what it would do, a line for each workload, unless --dry-run=false is given. "
      "It uses your kubeconfig, and may be interrupted and run again.\n"
      "-n and -l stand for --namespaces and --selector. Exits with 0 when all is done, with 1 when "
      "something failed, an operator runs, or it was interrupted, and with 2 when the command line "
      "is wrong.",
      KUBEXX_VERSION);
  CleanUpFlags question;
  question.AddTo(flags);
  const std::vector<const char*> arguments = CleanUpFlags::WithLongNames(argc, argv);
  if (const auto exit_code = flags.ParseOrExitCode(static_cast<int>(arguments.size()),
                                                   arguments.data(), kBadCleanUpUsage)) {
    return *exit_code;
  }
  // Mostly of a variable that is not set: all namespaces are not meant by that.
  const std::vector<std::string>& names = question.options.namespaces;
  const auto is_namespaces = [](const auto& flag) { return flag.first == "namespaces"; };
  if (std::ranges::find(names, "") != names.end() ||
      (names.empty() && std::ranges::any_of(flags.given(), is_namespaces))) {
    std::cerr << kCleanUpName << "--namespaces has an empty name; leave the flag out for all\n";
    return kBadCleanUpUsage;
  }
  // What the writers log about rights is told of each workload.
  logging::Init({.level = logging::Level::kError});
  const auto done = CleanUpCluster(question, signals.token());
  if (!done) {
    std::cerr << kCleanUpName << done.error().message << "\n";
  }
  return done && *done ? 0 : 1;
}

}  // namespace kubexx
