/// @file
/// Exporter: sends spans to a collector by OTLP over HTTP.
#ifndef KUBEXX_OTLP_EXPORTER_H_
#define KUBEXX_OTLP_EXPORTER_H_

#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/otlp/settings.h"
#include "kubexx/rest/url_client.h"
#include "kubexx/tracing/span.h"

namespace kubexx::otlp {

/// Sends batches as protobuf. For one thread. Semantics: the OpenTelemetry Protocol, OTLP/HTTP.
class Exporter {
 public:
  /// kInvalidConfig for a URL, headers or TLS files that cannot be used. The environment's proxy is
  /// used, as for API servers. Opens no connection. `clock` must outlive the exporter.
  static apimachinery::Result<std::unique_ptr<Exporter>> New(const Settings& settings,
                                                             base::Clock& clock);

  /// Sends a batch. When the collector is not there or is overloaded (429, 502, 503, 504), it tries
  /// again, after growing delays or when Retry-After says, until Settings::export_timeout or
  /// `stop`. A pause that Retry-After asks for counts for later batches, too, up to ten minutes.
  /// Otherwise an error says what the collector answered; a collector that took only a part is one,
  /// too.
  apimachinery::Result<void> Export(std::span<const tracing::SpanData> spans,
                                    const std::stop_token& stop);

 private:
  Exporter(const Settings& settings, std::unique_ptr<rest::UrlClient> client, base::Clock& clock);
  apimachinery::Result<std::string> Body(std::span<const tracing::SpanData> spans) const;
  // An error when the pause that the collector asked for is longer than until `deadline`.
  apimachinery::Result<void> AwaitPause(base::TimePoint deadline, const std::stop_token& stop);

  const Resource resource_;
  const bool gzip_;
  const base::Duration limit_;
  const std::unique_ptr<rest::UrlClient> client_;
  base::Clock& clock_;
  base::TimePoint pause_ends_{};
};

}  // namespace kubexx::otlp

#endif  // KUBEXX_OTLP_EXPORTER_H_
