// What the commands of kubexx-reloader have in common.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_SUBCOMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_SUBCOMMAND_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kubexx/flags/flags.h"

namespace kubexx {

/// The exit status of a command line that is wrong.
inline constexpr int kBadUsage = 2;

/// Tells under which name the program runs: `path` is argv[0]. As `kubectl-reloader` it is a
/// plugin, and calls itself "kubectl reloader". Call it before anything else.
void SetProgramPath(std::string_view path);
/// "kubexx-reloader" or "kubectl reloader".
std::string_view ProgramName();
/// Whether the program is a plugin of kubectl, which never runs the operator.
bool IsPlugin();

/// A short name of a flag, such as "-n" of "--namespace".
struct ShortFlag {
  std::string_view name{};
  const char* flag = "";
};

/// The arguments with the flags in place of their short names. The result refers to `argv` and to
/// `names`.
std::vector<const char*> WithLongNames(int argc, const char* const* argv,
                                       std::span<const ShortFlag> names);

/// Parses the command line of a command. Returns the exit status when the program has to end: 0
/// after --help or --version, and kBadUsage, with a message on standard error, when the command
/// line is wrong.
std::optional<int> ParseCommandLine(flags::FlagSet& flags, int argc, const char* const* argv,
                                    std::span<const ShortFlag> names);

/// Writes "kubexx-reloader COMMAND: what", with ProgramName, to standard error.
void Complain(std::string_view command, std::string_view what);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_SUBCOMMAND_H_
