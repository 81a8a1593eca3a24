#include "kubexx/reloader/admission/admission_server.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/certrotator/cert_rotator.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/admission/webhook_path.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/webhook/server.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;

/// The time between two attempts to serve, and between two checks of the path in the configuration.
constexpr base::Duration kServeAgain = std::chrono::seconds(10);
/// With the chart's configuration, API servers do not wait any longer.
constexpr std::chrono::milliseconds kAnswerTimeout = std::chrono::seconds(2);
/// The time for the requests that have arrived when the process ends.
constexpr std::chrono::milliseconds kDrain = std::chrono::seconds(2);

constexpr char kTemplateWebhook[] = "stamp-workload";
constexpr char kSourceWebhook[] = "warn-of-rollouts";

/// Waits for kServeAgain, or until `stop` is requested.
void WaitToServe(base::Clock& clock, const std::stop_token& stop) {
  base::Mutex mu;
  base::CondVar never;
  const base::TimePoint again = clock.Now() + kServeAgain;
  const base::MutexLock lock(mu);
  while (!stop.stop_requested() && clock.Now() < again) {
    clock.WaitUntil(mu, never, stop, again);
  }
}

/// One term in which the webhook is served.
class AdmissionTerm {
 public:
  AdmissionTerm(const std::shared_ptr<rest::RESTClient>& client, const AdmissionSettings& settings,
                base::Clock& clock)
      : client_(client),
        settings_(settings),
        clock_(clock),
        secret_(settings.name + "-tls"),
        configuration_(settings.namespace_ + "." + settings.name) {}

  Result<void> Run(const Admissions& admissions, metrics::Registry* registry,
                   const std::stop_token& stop) const {
    certrotator::CertRotator::Options options{.secret = {settings_.namespace_, secret_},
                                              .service = {settings_.namespace_, settings_.name},
                                              .mutating = {configuration_},
                                              .clock = clock_,
                                              .registry = registry};
    if (settings_.warnings) {
      options.validating = {configuration_};
    }
    if (!settings_.url.empty()) {
      options.url = settings_.url + "/";
      options.further_names = {HostOfAdmission(settings_.url)};
    }
    KX_ASSIGN_OR_RETURN(const auto rotator,
                        certrotator::CertRotator::New(client_, std::move(options), stop));
    KX_ASSIGN_OR_RETURN(const std::string uid, SecretUid(stop));
    webhook::Server server({.address = settings_.address,
                            .tls = {.certificate = rotator->Provider()},
                            .max_conversion_bytes = 0,
                            .handler_timeout = kAnswerTimeout,
                            .registry = registry});
    // With names, since everybody may read the metrics.
    server.HandleRaw(
        WebhookPath(kTemplateWebhook, uid),
        [&admissions](const webhook::Call& call) { return admissions.templates.Answer(call); },
        kTemplateWebhook);
    if (settings_.warnings) {
      server.HandleRaw(
          WebhookPath(kSourceWebhook, uid),
          [&admissions](const webhook::Call& call) { return admissions.sources.Answer(call); },
          kSourceWebhook);
    }
    KX_RETURN_IF_ERROR(server.Start());
    logging::Info("Serving the admission webhook", {{"port", server.port()}});
    std::stop_source over;
    const auto end = [&over] { over.request_stop(); };
    const std::stop_callback on_stop(stop, end);
    const std::jthread keeper([this, &uid, over](const std::stop_token&) { KeepPaths(uid, over); });
    auto rotated = rotator->Run(over.get_token());
    over.request_stop();
    server.Drain(kDrain);
    server.Stop();
    return rotated;
  }

 private:
  Result<std::string> SecretUid(const std::stop_token& stop) const {
    KX_ASSIGN_OR_RETURN(const auto secret,
                        dynamic::MetadataClient(client_)
                            .Resource({"", "v1", "secrets"}, settings_.namespace_)
                            .Get(secret_, stop));
    return secret.metadata.uid;
  }

  /// Keeps the path in the configuration, because a tool that applies the manifest again sets the
  /// manifest's path. Ends the term when the Secret has been made anew, so that all replicas serve
  /// the same path.
  void KeepPaths(const std::string& uid, std::stop_source over) const {
    const std::stop_token stop = over.get_token();
    bool was_told = false;
    while (!stop.stop_requested()) {
      if (const auto present = SecretUid(stop); present && *present != uid) {
        over.request_stop();
        return;
      }
      auto kept =
          PutPath("mutatingwebhookconfigurations", WebhookPath(kTemplateWebhook, uid), stop);
      if (kept && settings_.warnings) {
        kept = PutPath("validatingwebhookconfigurations", WebhookPath(kSourceWebhook, uid), stop);
      }
      if (!kept && !was_told && !stop.stop_requested()) {
        logging::Warning(
            "Cannot write the path of the admission webhook into its configuration; "
            "the operator tries again",
            {{"configuration", configuration_}, {"error", kept.error()}});
      }
      was_told = !kept;
      WaitToServe(clock_, stop);
    }
  }

  Result<void> PutPath(const std::string& plural, const std::string& path,
                       const std::stop_token& stop) const {
    const dynamic::DynamicResource configurations =
        dynamic::DynamicClient(client_).Resource({"admissionregistration.k8s.io", "v1", plural});
    KX_ASSIGN_OR_RETURN(const dynamic::Unstructured present,
                        configurations.Get(configuration_, {}, stop));
    std::string patch = PathPatch(present, settings_, path);
    if (!patch.empty()) {
      KX_RETURN_IF_ERROR(configurations.Patch(
          configuration_, {.type = rest::PatchType::kStrategicMerge, .text = std::move(patch)}, {},
          stop));
    }
    return {};
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const AdmissionSettings& settings_;
  base::Clock& clock_;
  const std::string secret_;
  const std::string configuration_;
};

}  // namespace

void ServeAdmission(const std::shared_ptr<rest::RESTClient>& client,
                    const AdmissionSettings& settings, const Admissions& admissions,
                    metrics::Registry* registry, base::Clock& clock, const std::stop_token& stop) {
  const AdmissionTerm term(client, settings, clock);
  while (!stop.stop_requested()) {
    const auto served = term.Run(admissions, registry, stop);
    if (served || stop.stop_requested()) {
      continue;
    }
    logging::Warning("Cannot serve the admission webhook; the operator tries again",
                     {{"error", served.error()}});
    WaitToServe(clock, stop);
  }
}

}  // namespace kubexx::reloader
