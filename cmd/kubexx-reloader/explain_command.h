// kubexx-reloader explain KIND/NAME: what would roll a workload, and why or why not.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_

#include "kubexx/reloader/config.h"

namespace kubexx {

/// Runs the command; `argv[0]` is "explain". Reads the cluster with the user's kubeconfig and
/// writes nothing to it. Returns the exit status: 0 when the workload was explained, whatever the
/// answer, 1 with a message on standard error otherwise.
int RunExplain(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_EXPLAIN_COMMAND_H_
