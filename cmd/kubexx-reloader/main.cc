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

#include "commands.h"
#include "kubectl_plugin.h"
#include "kubexx/base/process/crash_report.h"
#include "kubexx/base/process/descriptor_limit.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/observe/process_memory.h"
#include "kubexx/reloader/operator/config.h"
#include "preview_input.h"
#include "process.h"
#include "subcommand.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package

/// The index of the command: the first argument that is no flag, wherever it is; 0 when there is
/// none. `kubectl diff` puts two folders before it (KUBECTL_EXTERNAL_DIFF).
int FindCommand(int argc, const char* const* argv) {
  flags::FlagSet all("", "");
  for (const Command& command : AllCommands()) {
    command.add_flags(all);  // a flag that several have is of one type
  }
  const std::vector<const char*> words = WithAllLongNames(argc, argv);
  const std::vector<int> found = all.FindArguments(static_cast<int>(words.size()), words.data());
  if (found.size() > 2 && AreFolders({words[static_cast<std::size_t>(found[0])],
                                      words[static_cast<std::size_t>(found[1])]})) {
    return found[2];
  }
  return found.empty() ? 0 : found.front();
}

/// Refuses words without a meaning: they are meant for something else than running the operator,
/// perhaps with a person's kubeconfig. Returns whether there are any.
bool RefuseArguments(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "true") {
      continue;  // `--auto-reload-all true`: what it asks for is what it gets, also of the original
    }
    std::cerr
        << "kubexx-reloader: unexpected argument \"" << argument << "\""
        << (argument == "false" ? "; a flag is switched off by --flag=false"
            : argument == "completion"
                ? "; use --completion bash, zsh or fish"
                : "; the only commands are explain KIND/NAME, preview, history KIND/NAME, status, "
                  "ui, pause, resume, retry, clean-up, self-test, help and version, and they come "
                  "before other words")
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
      "is not a flag.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  AddCommandsTo(flags);
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
  reloader::AddKindsOf(*config);
  if (const auto error = base::RaiseDescriptorLimit()) {
    logging::Warning("Cannot raise the limit of open files", {{"error", error.message()}});
  }
  if (const auto ran = RunProcess(*config, signals.token()); !ran) {
    logging::Error("The operator ends because of an error", {{"error", ran.error()}});
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

/// The word that `help` is asked about, which is no command; std::nullopt when there is no word. A
/// word after a flag may be the flag's value.
std::optional<std::string_view> UnknownCommandIn(const std::vector<const char*>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view before = i == 1 ? std::string_view() : words[i - 1];
    if (!word.starts_with('-') && (!before.starts_with('-') || before.contains('=')) &&
        word != "help" && word != "version") {
      return word;
    }
  }
  return std::nullopt;
}

/// What runs without a command.
int Run(int argc, const char* const* argv) {
  return IsPlugin() ? RunPluginWithoutCommand(argc, argv) : RunOperator(argc, argv);
}

int Main(int argc, const char* const* argv) {
  base::ReportCrashes("kubexx-reloader/" KUBEXX_VERSION);
  const std::string_view path = argc > 0 ? argv[0] : "";
  SetProgramPath(path);
  if (IsCompletion(path)) {
    return RunCompletion(argc, argv);
  }
  const int at = FindCommand(argc, argv);
  const std::string_view command = at == 0 ? "" : argv[at];
  std::vector<const char*> others(argv, argv + argc);
  const Command* found = CommandNamed(command);
  if (found != nullptr || command == "help" || command == "version") {
    others.erase(others.begin() + at);
  }
  const int count = static_cast<int>(others.size());
  if (found != nullptr) {
    return found->run(count, others.data());
  }
  if (command == "version") {
    constexpr std::array kVersion{"kubexx-reloader", "--version"};
    return Run(kVersion.size(), kVersion.data());
  }
  if (command == "help") {
    constexpr std::array kHelp{"kubexx-reloader", "--help"};
    for (const char* other : others) {
      if (const Command* about = CommandNamed(other)) {
        return about->run(kHelp.size(), kHelp.data());
      }
    }
    if (const auto unknown = UnknownCommandIn(others)) {
      std::cerr << ProgramName() << ": there is no command \"" << *unknown
                << "\" to help with\nSee " << ProgramName() << " --help for the commands.\n";
      return kBadUsage;
    }
    return Run(kHelp.size(), kHelp.data());
  }
  return Run(argc, argv);
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
