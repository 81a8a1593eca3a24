// kubexx-reloader clean-up: takes away what operators have left on workloads.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_CLEAN_UP_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_CLEAN_UP_COMMAND_H_

#include <cstdint>

#include "kubexx/flags/flags.h"
#include "kubexx/reloader/write/clean_up.h"
#include "kubexx/rest/config.h"
#include "subcommand.h"

namespace kubexx {

/// What the command line asks for.
struct CleanUpFlags {
  reloader::CleanUpOptions options{};
  /// Goes on while an operator runs, which would write the same again.
  bool force = false;
  std::string workload_kinds{};
  std::int64_t qps = 50;
  rest::KubeconfigOptions kubeconfig{};

  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
  /// Of these only the flags that the operator and `explain` have not.
  void AddOwnTo(flags::FlagSet& flags);
  static constexpr ShortFlag kShort[] = {{"-n", "--namespaces"}, {"-l", "--selector"}};
};

/// Runs the command; `argv` is the command line without the word "clean-up". Writes to the cluster
/// only with --dry-run=false, as the user's kubeconfig permits. Returns the exit status: 0 when
/// everything was looked at and what was to be done is done; with a message on standard error 1
/// when something failed, an operator runs, or it was interrupted, and 2 when the command line is
/// wrong.
int RunCleanUp(int argc, const char* const* argv);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_CLEAN_UP_COMMAND_H_
