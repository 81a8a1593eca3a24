// kubexx-reloader ui: serves a page that shows what the operator does, on the person's own machine.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_UI_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_UI_COMMAND_H_

#include <string>

#include "kubexx/flags/flags.h"
#include "kubexx/reloader/operator/config.h"
#include "subcommand.h"

namespace kubexx {

/// The part of the command line that is not one of the operator's flags.
struct UiFlags {
  std::string namespace_{};
  std::string operator_namespace{};
  std::string address = "127.0.0.1:0";
  bool may_be_reached = false;
  std::string sign_in = "link";
  std::string certificate_file{};
  std::string key_file{};

  static constexpr ShortFlag kShort[] = {{"-n", "--namespace"}};
  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
};

/// Runs the command until SIGINT or SIGTERM; `argv` is the command line without the word "ui".
/// Writes nothing to the cluster. Returns the exit status: 0 after the signal; with a message on
/// standard error 1 when the page cannot be served or the kubeconfig cannot be read, and 2 when the
/// command line is wrong.
int RunUi(int argc, const char* const* argv, const reloader::ConfigFlags::Environment& environment);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_UI_COMMAND_H_
