// kubexx-reloader explain KIND/NAME: explains what would roll a workload, and why or why not.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_

#include <string>
#include <vector>

#include "kubexx/flags/flags.h"
#include "kubexx/reloader/operator/config.h"
#include "subcommand.h"

namespace kubexx {

/// The part of the command line that is not one of the operator's flags.
struct ExplainFlags {
  std::string namespace_{};
  std::string output = "text";
  /// The namespace of the operator whose flags apply; empty: the operator that watches the
  /// workload.
  std::string operator_namespace{};
  /// KIND/NAME, or KIND and NAME.
  std::vector<std::string> arguments{};

  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
  static constexpr ShortFlag kShort[] = {{"-n", "--namespace"}, {"-o", "--output"}};
};

/// Runs the command. `argv` is the command line without the word "explain". Reads the cluster with
/// the user's kubeconfig and writes nothing to it. Returns the exit status: 0 when the workload was
/// explained, whatever the answer is. Otherwise it writes a message to standard error and returns 1
/// when the workload cannot be explained, or 2 when the command line is wrong or names no workload.
int RunExplain(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_
