// kubexx-reloader: rolls workloads when their ConfigMaps and Secrets change. Flags and wiring; the
// work is done in pkg/reloader.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "clean_up_command.h"
#include "explain_command.h"
#include "kubexx/base/crash_report.h"
#include "kubexx/base/descriptor_limit.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/observe/process_memory.h"
#include "kubexx/reloader/operator/config.h"
#include "process.h"
#include "self_test_command.h"
#include "subcommand.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The index of the first argument that is no flag, wherever it is; 0 when there is none.
int FindCommand(int argc, const char* const* argv) {
  flags::FlagSet all("", "");
  const reloader::ConfigFlags of_operator(all);
  ExplainFlags of_explain;
  of_explain.AddTo(all);
  CleanUpFlags of_clean_up;
  of_clean_up.AddOwnTo(all);
  SelfTestFlags of_self_test;
  of_self_test.AddOwnTo(all);
  std::vector<const char*> words = WithLongNames(argc, argv, ExplainFlags::kShort);
  words = WithLongNames(argc, words.data(), CleanUpFlags::kShort);
  words = WithLongNames(argc, words.data(), SelfTestFlags::kShort);
  const std::vector<int> found = all.FindArguments(static_cast<int>(words.size()), words.data());
  return found.empty() ? 0 : found.front();
}

/// Refuses words without a meaning: they are meant for something else than running the operator,
/// perhaps with a person's kubeconfig. Returns whether there are any.
bool RefuseArguments(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "true") {
      continue;  // `--auto-reload-all true`: what it asks for is what it gets, also of the original
    }
    std::cerr << "kubexx-reloader: unexpected argument \"" << argument << "\""
              << (argument == "false" ? "; a flag is switched off by --flag=false"
                  : argument == "completion"
                      ? "; use --completion bash, zsh or fish"
                      : "; the only commands are explain KIND/NAME, clean-up, self-test, help and "
                        "version, and they come before other words")
              << "\nSee kubexx-reloader --help for its usage.\n";
    return true;
  }
  return false;
}

int RunOperator(int argc, const char* const* argv) {
  reloader::TuneAllocator();
  const controller::StopSignals signals;
  flags::FlagSet flags(
      "kubexx-reloader",
      "Rolls workloads when the data of their ConfigMaps and Secrets changes.\n"
      "Without a command it runs.\n\n"
      "Takes the flags, annotations and environment of stakater/Reloader; list "
      "values are one CSV record and may be repeated.\nEnvironment: KUBECONFIG, "
      "KUBERNETES_NAMESPACE, POD_NAME, POD_NAMESPACE, RELOADER_NAMESPACE, "
      "RELOADER_DEPLOYMENT_NAME, METRICS_COUNT_BY_NAMESPACE, ALERT_ON_RELOAD, "
      "ALERT_SINK, ALERT_WEBHOOK_URL, ALERT_ADDITIONAL_INFO, "
      "ALERT_WEBHOOK_PROXY.\nExits with 0 after SIGTERM or SIGINT, and with 1 when "
      "it cannot start or a flag or variable is wrong, and with 2 when there is an argument that "
      "is no flag.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  flags::FlagSet of_explain("", "", KUBEXX_VERSION);
  const reloader::ConfigFlags judging_flags(of_explain);
  ExplainFlags explain_flags;
  explain_flags.AddTo(of_explain);
  flags::FlagSet of_clean_up("", "", KUBEXX_VERSION);
  CleanUpFlags clean_up_flags;
  clean_up_flags.AddTo(of_clean_up);
  flags::FlagSet of_self_test("", "", KUBEXX_VERSION);
  SelfTestFlags self_test_flags;
  self_test_flags.AddTo(of_self_test);
  flags.AddCommand("explain", "KIND/NAME: tells what would roll a workload, and why or why not",
                   of_explain);
  flags.AddCommand("clean-up", "removes what operators have left on workloads", of_clean_up);
  flags.AddCommand("self-test", "tests whether the installed operator works", of_self_test);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  if (RefuseArguments(config_flags.arguments())) {
    return kBadUsage;
  }
  const auto config = config_flags.Build(Environment);
  if (!config) {
    std::cerr << "kubexx-reloader: " << config.error().message << "\n";
    return EXIT_FAILURE;
  }
  logging::Init(config->logging);
  if (const auto error = base::RaiseDescriptorLimit()) {
    logging::Warning("Cannot raise the limit of open files", {{"error", error.message()}});
  }
  if (const auto ran = RunProcess(*config, signals.token()); !ran) {
    logging::Error("The operator ends because of an error", {{"error", ran.error()}});
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

int Explain(int argc, const char* const* argv) { return RunExplain(argc, argv, Environment); }

/// What runs in place of the operator.
struct Command {
  std::string_view name{};
  /// Without the command's name.
  int (*run)(int argc, const char* const* argv) = nullptr;
};
constexpr std::array kCommands{Command{"explain", Explain}, Command{"clean-up", RunCleanUp},
                               Command{"self-test", RunSelfTestCommand}};

const Command* FindByName(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

int Main(int argc, const char* const* argv) {
  base::ReportCrashes("kubexx-reloader/" KUBEXX_VERSION);
  const int at = FindCommand(argc, argv);
  const std::string_view command = at == 0 ? "" : argv[at];
  std::vector<const char*> others(argv, argv + argc);
  const Command* found = FindByName(command);
  if (found != nullptr || command == "help" || command == "version") {
    others.erase(others.begin() + at);
  }
  const int count = static_cast<int>(others.size());
  if (found != nullptr) {
    return found->run(count, others.data());
  }
  if (command == "version") {
    constexpr std::array kVersion{"kubexx-reloader", "--version"};
    return RunOperator(kVersion.size(), kVersion.data());
  }
  if (command == "help") {
    constexpr std::array kHelp{"kubexx-reloader", "--help"};
    for (const char* other : others) {
      if (const Command* about = FindByName(other)) {
        return about->run(kHelp.size(), kHelp.data());
      }
    }
    return RunOperator(kHelp.size(), kHelp.data());
  }
  return RunOperator(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory or of threads
    std::cerr << "kubexx-reloader: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
