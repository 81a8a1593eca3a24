// kubexx-reloader preview -f FILE: tells what a change of ConfigMaps and Secrets would roll.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_PREVIEW_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_PREVIEW_COMMAND_H_

#include <string>
#include <vector>

#include "kubexx/flags/flags.h"
#include "kubexx/reloader/operator/config.h"
#include "subcommand.h"

namespace kubexx {

/// The exit status with --exit-code when something would roll.
inline constexpr int kWouldRoll = 3;

/// The exit status when `kubectl diff` has called the program and the preview cannot be made:
/// kubectl takes 1 for a difference.
inline constexpr int kFailedForKubectl = 4;

/// The part of the command line that is not one of the operator's flags.
struct PreviewFlags {
  std::vector<std::string> files{};
  std::vector<std::string> folders{};  ///< of `kubectl diff`, instead of files: before and after
  std::string namespace_{};
  std::string output = "text";
  std::string operator_namespace{};
  bool exit_code = false;

  static constexpr ShortFlag kShort[] = {
      {"-f", "--filename"}, {"-n", "--namespace"}, {"-o", "--output"}};
  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
};

/// Runs the command. `argv` is the command line without the word "preview". Reads the cluster with
/// the user's kubeconfig and writes nothing to it; shows no values. Returns the exit status: 0 when
/// the preview was made, or kWouldRoll if that was asked for and something would roll. Otherwise it
/// writes a message to standard error and returns 1 (or kFailedForKubectl) when the preview cannot
/// be made, or 2 when the command line is wrong.
int RunPreview(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_PREVIEW_COMMAND_H_
