#include "start_tracing.h"

#include "kubexx/logging/log.h"
#include "kubexx/otlp/settings.h"

namespace kubexx {

apimachinery::Result<std::unique_ptr<otlp::Tracing>> StartTracing(const reloader::Config& config,
                                                                  metrics::Registry& registry) {
  if (!config.tracing) {
    return nullptr;
  }
  const auto failed = [](const apimachinery::Status& status) {
    return apimachinery::Fail(status.WithContext("--tracing"));
  };
  const auto settings = otlp::SettingsFromEnvironment({.service_name = "kubexx-reloader",
                                                       .service_version = KUBEXX_VERSION,
                                                       .endpoint = config.otlp_endpoint});
  if (!settings) {
    return failed(settings.error());
  }
  if (!*settings) {
    logging::Info("Tracing is off, as the environment says");
    return nullptr;
  }
  auto made = otlp::Tracing::New(**settings, &registry);
  if (!made) {
    return failed(made.error());
  }
  return made;
}

}  // namespace kubexx
