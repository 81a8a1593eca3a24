/// @file
/// Waits for a stop.
#ifndef KUBEXX_BASE_WAIT_UNTIL_STOPPED_H_
#define KUBEXX_BASE_WAIT_UNTIL_STOPPED_H_

#include <stop_token>

namespace kubexx::base {

/// Blocks until `stop` is requested. It is for a program's main thread, with the token of
/// controller::StopSignals. With a token that nobody can request it blocks for ever.
void WaitUntilStopped(const std::stop_token& stop);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_WAIT_UNTIL_STOPPED_H_
