// kubexx-reloader explain KIND/NAME: what would roll a workload, and why or why not.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_

#include <string>
#include <vector>

#include "kubexx/flags/flags.h"
#include "kubexx/reloader/operator/config.h"

namespace kubexx {

/// What the command line asks for, beside the operator's flags.
struct ExplainFlags {
  std::string namespace_{};
  std::string output = "text";
  /// Where the operator is whose flags count; empty: whichever watches the workload.
  std::string operator_namespace{};
  /// KIND/NAME, or KIND and NAME.
  std::vector<std::string> arguments{};

  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
  /// The same arguments with --namespace for -n and --output for -o.
  static std::vector<const char*> WithLongNames(int argc, const char* const* argv);
};

/// Runs the command; `argv` is the command line without the word "explain". Reads the cluster with
/// the user's kubeconfig and writes nothing to it. Returns the exit status: 0 when the workload was
/// explained, whatever the answer; with a message on standard error 1 when it cannot be, and 2 when
/// the command line names no workload or is wrong.
int RunExplain(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_
