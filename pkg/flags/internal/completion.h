/// @file
/// Completion scripts of the common shells.
#ifndef KUBEXX_FLAGS_INTERNAL_COMPLETION_H_
#define KUBEXX_FLAGS_INTERNAL_COMPLETION_H_

#include <string>
#include <string_view>
#include <vector>

namespace kubexx::flags::internal {

struct CompletionFlag {
  std::string name{};
  std::string help{};
  bool takes_value = false;
  std::vector<std::string> choices{};  ///< the values it takes, when they are few
};

/// A word that is given before flags of its own.
struct CompletionCommand {
  std::string name{};
  std::string help{};
  std::vector<CompletionFlag> flags{};
};

/// The script for "bash", "zsh" or "fish"; empty for any other shell. Behind the name of a command
/// its flags are offered in place of the program's. `program` and the names consist of letters,
/// digits, dots, dashes and underscores; the help may be any text.
std::string CompletionScript(std::string_view shell, const std::string& program,
                             const std::vector<CompletionFlag>& flags,
                             const std::vector<CompletionCommand>& commands = {});

}  // namespace kubexx::flags::internal

#endif  // KUBEXX_FLAGS_INTERNAL_COMPLETION_H_
