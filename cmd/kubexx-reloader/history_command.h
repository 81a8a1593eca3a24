// kubexx-reloader history KIND/NAME: shows the rollouts of a workload, or those for a source.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_HISTORY_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_HISTORY_COMMAND_H_

#include <string>
#include <vector>

#include "kubexx/flags/flags.h"
#include "kubexx/rest/config.h"
#include "subcommand.h"

namespace kubexx {

/// What the command line asks for.
struct HistoryFlags {
  std::vector<std::string> arguments{};
  std::string namespace_{};
  /// Only an operator in this namespace describes kinds; empty: any.
  std::string operator_namespace{};
  std::string output = "text";
  rest::KubeconfigOptions kubeconfig{};

  static constexpr ShortFlag kShort[] = {{"-n", "--namespace"}, {"-o", "--output"}};
  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
};

/// Runs the command; `argv` is the command line without the word "history". Reads the cluster with
/// the user's kubeconfig and writes nothing to it; shows no values. Returns the exit status: 0 when
/// the history was shown, also when there is none, or when kinds of workloads may not be listed;
/// with a message on standard error 1 when it cannot be read, and 2 when the command line is wrong.
int RunHistory(int argc, const char* const* argv);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_HISTORY_COMMAND_H_
