/// @file
/// The output of finished log lines.
#ifndef KUBEXX_LOGGING_INTERNAL_SINK_H_
#define KUBEXX_LOGGING_INTERNAL_SINK_H_

#include <functional>
#include <string_view>

#include "kubexx/logging/log.h"

namespace kubexx::logging::internal {

/// Takes one finished line with its newline. Called by one thread at a time; must not log.
using Output = std::function<void(std::string_view)>;

/// Sends lines to `output` instead of standard error, or to standard error again if `output` is
/// empty. Returns the former output.
Output ReplaceOutputForTest(Output output);

/// Returns the options that are in force.
Options CurrentOptions();

}  // namespace kubexx::logging::internal

#endif  // KUBEXX_LOGGING_INTERNAL_SINK_H_
