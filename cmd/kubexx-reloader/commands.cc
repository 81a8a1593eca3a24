#include "commands.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "clean_up_command.h"
#include "explain_command.h"
#include "history_command.h"
#include "kubexx/reloader/operator/config.h"
#include "preview_command.h"
#include "self_test_command.h"
#include "status_command.h"
#include "steer_commands.h"
#include "subcommand.h"
#include "ui_command.h"

namespace kubexx {
namespace {

int Explain(int argc, const char* const* argv) { return RunExplain(argc, argv, Environment); }

int Preview(int argc, const char* const* argv) { return RunPreview(argc, argv, Environment); }

int Ui(int argc, const char* const* argv) { return RunUi(argc, argv, Environment); }

/// The operator's flags count as well.
void AddUiFlags(flags::FlagSet& flags) {
  const reloader::ConfigFlags of_operator(flags);
  UiFlags().AddTo(flags);
}

/// The operator's flags count as well.
void AddPreviewFlags(flags::FlagSet& flags) {
  const reloader::ConfigFlags of_operator(flags);
  PreviewFlags().AddTo(flags);
}

/// The operator's flags count as well.
void AddExplainFlags(flags::FlagSet& flags) {
  const reloader::ConfigFlags of_operator(flags);
  ExplainFlags().AddTo(flags);
}

template <class Flags>
void AddFlagsOf(flags::FlagSet& flags) {
  Flags().AddTo(flags);
}

void AddRetryFlags(flags::FlagSet& flags) { SteerFlags().AddRetryTo(flags); }

using Names = Command::Names;

constexpr std::array kCommands{
    Command{"explain", "KIND/NAME: tells what would roll a workload, and why or why not", Explain,
            AddExplainFlags, Names::kWorkload},
    Command{"preview", "-f FILE: tells what a change of ConfigMaps and Secrets would roll", Preview,
            AddPreviewFlags},
    Command{"history", "KIND/NAME: shows the rollouts of a workload, or those for a source",
            RunHistory, AddFlagsOf<HistoryFlags>, Names::kWithHistory},
    Command{"status", "tells what policies hold back, and what has failed", RunStatus,
            AddFlagsOf<StatusFlags>},
    Command{"ui", "serves a page on this machine that shows all of that, and follows it", Ui,
            AddUiFlags},
    Command{"pause", "KIND/NAME: holds back the rollouts of a workload, a source or a policy",
            RunPause, AddFlagsOf<SteerFlags>, Names::kObject},
    Command{"resume", "KIND/NAME: ends a pause", RunResume, AddFlagsOf<SteerFlags>, Names::kObject},
    Command{"retry", "KIND/NAME: makes the pods anew of a workload whose rollout has failed",
            RunRetry, AddRetryFlags, Names::kWorkload},
    Command{"clean-up", "removes what operators have left on workloads", RunCleanUp,
            AddFlagsOf<CleanUpFlags>},
    Command{"self-test", "tests whether the installed operator works", RunSelfTestCommand,
            AddFlagsOf<SelfTestFlags>},
};

}  // namespace

std::span<const Command> AllCommands() { return kCommands; }

const Command* CommandNamed(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

void AddCommandsTo(flags::FlagSet& flags) {
  for (const Command& command : kCommands) {
    flags::FlagSet of_command("", "", KUBEXX_VERSION);
    command.add_flags(of_command);
    flags.AddCommand(std::string(command.name), std::string(command.help), of_command);
  }
}

std::vector<const char*> WithAllLongNames(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  for (const std::span<const ShortFlag> names :
       {std::span<const ShortFlag>(PreviewFlags::kShort),
        std::span<const ShortFlag>(StatusFlags::kShort),
        std::span<const ShortFlag>(CleanUpFlags::kShort)}) {
    words = WithLongNames(argc, words.data(), names);
  }
  return words;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace kubexx
