/// @file
/// Settings of tracing, as the environment has them.
#ifndef KUBEXX_OTLP_SETTINGS_H_
#define KUBEXX_OTLP_SETTINGS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/otlp/trace_message.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/url_client.h"
#include "kubexx/tracing/batch_processor.h"
#include "kubexx/tracing/sampler.h"

namespace kubexx::otlp {

/// Where spans go, and which. Holds credentials (headers): never log it.
struct Settings {
  std::string url = "http://localhost:4318/v1/traces";
  rest::UrlClient::Headers headers{};
  rest::TlsConfig tls = rest::TlsConfig();
  bool gzip = false;
  /// Of one attempt to send a batch.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  /// Of all attempts for a batch.
  std::chrono::milliseconds export_timeout = std::chrono::seconds(30);
  Resource resource{};
  tracing::Sampler sampler = tracing::Sampler();
  /// Whether the API server is told of spans (traceparent).
  bool propagate = true;
  /// Without clock and registry, which Tracing::New sets.
  tracing::BatchProcessor::Options batches = tracing::BatchProcessor::Options();
};

/// What a program knows of itself, or has been told by its flags.
struct ProgramSettings {
  std::string service_name{};  ///< unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES have one
  std::string service_version{};
  std::string endpoint{};  ///< takes the place of OTEL_EXPORTER_OTLP_ENDPOINT, if it is set
};

/// Returns the value of an environment variable, "" when it is unset.
using Environment = std::function<std::string(const char*)>;

/// Reads OpenTelemetry's variables: OTEL_SDK_DISABLED; OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES;
/// OTEL_TRACES_EXPORTER (otlp, none), OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG,
/// OTEL_PROPAGATORS; OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _COMPRESSION, _PROTOCOL
/// (http/protobuf), _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, each also with TRACES_ after
/// OTLP_; OTEL_BSP_SCHEDULE_DELAY, _EXPORT_TIMEOUT, _MAX_QUEUE_SIZE and _MAX_EXPORT_BATCH_SIZE.
/// An empty value counts as unset, and so do blanks around it. Case does not matter in words of a
/// list, such as "gzip". A limit of 0 is none. std::nullopt when they say that there is to be no
/// tracing. kInvalidConfig names the variable that cannot be used, and never shows headers.
apimachinery::Result<std::optional<Settings>> SettingsFrom(const Environment& environment,
                                                           const ProgramSettings& program);

/// The environment of this process, for start-up.
apimachinery::Result<std::optional<Settings>> SettingsFromEnvironment(
    const ProgramSettings& program);

}  // namespace kubexx::otlp

#endif  // KUBEXX_OTLP_SETTINGS_H_
