/// @file
/// Where finished log lines go.
#ifndef KUBEXX_LOGGING_INTERNAL_SINK_H_
#define KUBEXX_LOGGING_INTERNAL_SINK_H_

#include <functional>
#include <string_view>

#include "kubexx/logging/log.h"

namespace kubexx::logging::internal {

/// Takes one rendered line, newline included. Called by one thread at a time; must not log.
using Output = std::function<void(std::string_view)>;

/// Sends lines to `output` in place of standard error, or back to it when empty. Returns what was
/// set before.
Output ReplaceOutputForTest(Output output);

/// The options in force.
Options CurrentOptions();

}  // namespace kubexx::logging::internal

#endif  // KUBEXX_LOGGING_INTERNAL_SINK_H_
