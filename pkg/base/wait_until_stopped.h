/// @file
/// How a thread waits for nothing but its end.
#ifndef KUBEXX_BASE_WAIT_UNTIL_STOPPED_H_
#define KUBEXX_BASE_WAIT_UNTIL_STOPPED_H_

#include <stop_token>

namespace kubexx::base {

/// Blocks until `stop` is requested; for a program's main thread, whose token is that of
/// controller::StopSignals. A token that nobody can request blocks for ever.
void WaitUntilStopped(const std::stop_token& stop);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_WAIT_UNTIL_STOPPED_H_
