// kubexx-reloader status: tells which operators there are, and what policies hold back.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_STATUS_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_STATUS_COMMAND_H_

#include <string>

#include "kubexx/flags/flags.h"
#include "kubexx/rest/config.h"
#include "subcommand.h"

namespace kubexx {

/// What the command line asks for.
struct StatusFlags {
  std::string namespace_{};
  bool all_namespaces = false;
  std::string output = "text";
  rest::KubeconfigOptions kubeconfig{};

  static constexpr ShortFlag kShort[] = {
      {"-n", "--namespace"}, {"-A", "--all-namespaces"}, {"-o", "--output"}};
  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
};

/// Runs the command; `argv` is the command line without the word "status". Writes nothing to the
/// cluster. Returns the exit status: 0 when the status was shown, also when parts of it may not be
/// read; with a message on standard error 1 when the cluster does not answer, and 2 when the
/// command line is wrong.
int RunStatus(int argc, const char* const* argv);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_STATUS_COMMAND_H_
