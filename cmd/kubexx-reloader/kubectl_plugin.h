// kubexx-reloader as a plugin of kubectl: `kubectl reloader COMMAND`, and its completion.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_KUBECTL_PLUGIN_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_KUBECTL_PLUGIN_H_

#include <string_view>

namespace kubexx {

/// Whether the program was called as `kubectl_complete-reloader`, which kubectl does to complete
/// `kubectl reloader`. `path` is argv[0].
bool IsCompletion(std::string_view path);

/// Writes what may complete the last argument, in the form that kubectl reads: a line for each
/// candidate, with a tab before its description, and a last line with a colon and a number that
/// tells the shell what to do. Names of objects come from the cluster; without an answer within two
/// seconds there are none. Returns the exit status 0.
int RunCompletion(int argc, const char* const* argv);

/// Answers a command line of `kubectl reloader` that names no command: help and version, and an
/// error for anything else. Returns the exit status.
int RunPluginWithoutCommand(int argc, const char* const* argv);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_KUBECTL_PLUGIN_H_
