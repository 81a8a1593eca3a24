/// @file
/// StartTracing: the tracer of the operator.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_START_TRACING_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_START_TRACING_H_

#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/otlp/tracing.h"
#include "kubexx/reloader/operator/config.h"

namespace kubexx {

/// Null without --tracing, and where OpenTelemetry's variables say that there is to be none. An
/// error names the setting that cannot be used. `registry` must outlive the result.
apimachinery::Result<std::unique_ptr<otlp::Tracing>> StartTracing(const reloader::Config& config,
                                                                  metrics::Registry& registry);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_START_TRACING_H_
