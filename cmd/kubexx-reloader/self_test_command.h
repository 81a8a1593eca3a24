// kubexx-reloader self-test: tries out whether the operator that is installed works.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_SELF_TEST_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_SELF_TEST_COMMAND_H_

#include <chrono>

#include "kubexx/base/clock.h"
#include "kubexx/flags/flags.h"
#include "kubexx/reloader/observe/self_testing.h"
#include "kubexx/rest/config.h"
#include "subcommand.h"

namespace kubexx {

/// What the command line asks for.
struct SelfTestFlags {
  reloader::SelfTestOptions options{};
  base::Duration timeout = std::chrono::minutes(1);
  base::Duration settle_window{};  ///< of the operator, by which the test may take longer
  rest::KubeconfigOptions kubeconfig{};

  static constexpr ShortFlag kShort[] = {{"-n", "--namespace"}};
  /// Adds the flags, which write to this object.
  void AddTo(flags::FlagSet& flags);
  /// Of these only the flags that the operator and `explain` have not.
  void AddOwnTo(flags::FlagSet& flags);
};

/// Runs the command; `argv` is the command line without the word "self-test". Makes two objects in
/// the namespace and deletes them. Returns the exit status: 0 when the operator works; with a
/// message on standard error 1 when it does not, or it cannot be told, and 2 when the command line
/// is wrong.
int RunSelfTestCommand(int argc, const char* const* argv);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_SELF_TEST_COMMAND_H_
