// kubexx-reloader pause, resume and retry: steer the rollouts of single objects by hand.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_STEER_COMMANDS_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_STEER_COMMANDS_H_

#include <string>
#include <vector>

#include "kubexx/flags/flags.h"
#include "kubexx/rest/config.h"
#include "subcommand.h"

namespace kubexx {

/// What the command line of one of these commands asks for.
struct SteerFlags {
  std::string namespace_{};
  /// Only an operator in this namespace describes kinds; empty: any.
  std::string operator_namespace{};
  std::vector<std::string> arguments{};
  rest::KubeconfigOptions kubeconfig{};
  bool mended = false;  ///< only of retry

  static constexpr ShortFlag kShort[] = {{"-n", "--namespace"}};
  /// Adds the flags of `pause` and `resume`, which write to this object.
  void AddTo(flags::FlagSet& flags);
  /// Adds those of `retry`.
  void AddRetryTo(flags::FlagSet& flags);
};

/// Run the commands; `argv` is the command line without the command's word. Each reads one object
/// and patches it. Returns the exit status: 0 when the object is as it should be; with a message on
/// standard error 1 when it could not be changed, and 2 when the command line is wrong.
int RunPause(int argc, const char* const* argv);
int RunResume(int argc, const char* const* argv);
int RunRetry(int argc, const char* const* argv);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_STEER_COMMANDS_H_
