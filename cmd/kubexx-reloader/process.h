/// @file
/// The operator's parts, put together.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_PROCESS_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_PROCESS_H_

#include <functional>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/config.h"

namespace kubexx {

/// Runs the operator until `await_stop` returns, which is called when everything has been started.
/// Errors say why it cannot start.
apimachinery::Result<void> RunProcess(const reloader::Config& config,
                                      const std::function<void()>& await_stop);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_PROCESS_H_
