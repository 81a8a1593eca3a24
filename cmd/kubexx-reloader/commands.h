// The commands of kubexx-reloader.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_COMMANDS_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_COMMANDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/flags/flags.h"

namespace kubexx {

/// What runs in place of the operator.
struct Command {
  /// The objects that the arguments name.
  enum class Names : std::uint8_t {
    kNothing,
    kWorkload,
    kWithHistory,  ///< a workload or a source
    kObject,
  };

  std::string_view name{};
  std::string_view help{};  ///< one line
  /// Runs it. The arguments are the command line without the command's name.
  int (*run)(int argc, const char* const* argv) = nullptr;
  /// Adds its flags, for completion and to find arguments among flags; not to be parsed.
  void (*add_flags)(flags::FlagSet& flags) = nullptr;
  Names names = Names::kNothing;
};

/// All commands, in the order in which help shows them.
std::span<const Command> AllCommands();
/// Returns null when there is no such command.
const Command* CommandNamed(std::string_view name);
/// Names all commands in the help and the completion of `flags`.
void AddCommandsTo(flags::FlagSet& flags);
/// The arguments with the long names of all commands' flags in place of the short ones. The result
/// refers to `argv`.
std::vector<const char*> WithAllLongNames(int argc, const char* const* argv);
/// The value of an environment variable; empty when it is not set.
std::string Environment(const char* name);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_COMMANDS_H_
