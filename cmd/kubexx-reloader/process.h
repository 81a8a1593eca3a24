/// @file
/// Assembles the parts of the operator and runs them.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_PROCESS_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_PROCESS_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/operator/config.h"

namespace kubexx {

/// Runs the operator until `stop` is requested. Fails, saying why, when the operator cannot start.
apimachinery::Result<void> RunProcess(const reloader::Config& config, const std::stop_token& stop);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_PROCESS_H_
