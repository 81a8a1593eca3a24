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
  std::vector<std::string> choices{};  ///< the possible values, if there are few
};

/// A command: a word that flags of its own may follow.
struct CompletionCommand {
  std::string name{};
  std::string help{};
  std::vector<CompletionFlag> flags{};
};

/// Returns the script for "bash", "zsh" or "fish", or an empty text for any other shell. After the
/// name of a command the script offers the command's flags instead of the program's. `program` and
/// the names consist of letters, digits, dots, dashes and underscores; the help may be any text.
std::string CompletionScript(std::string_view shell, const std::string& program,
                             const std::vector<CompletionFlag>& flags,
                             const std::vector<CompletionCommand>& commands = {});

}  // namespace kubexx::flags::internal

#endif  // KUBEXX_FLAGS_INTERNAL_COMPLETION_H_
