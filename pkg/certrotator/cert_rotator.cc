#include "kubexx/certrotator/cert_rotator.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/certrotator/internal/rotation.h"
#include "kubexx/certrotator/internal/trust.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::certrotator {
namespace {

using api::core::v1::Secret;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

using PairPtr = std::shared_ptr<const http::KeyPair>;

/// The pair that is served. Thread-safe. Providers outlive the rotator.
class Served {
 public:
  PairPtr Get() const {
    const base::MutexLock lock(mu_);
    return pair_;
  }
  /// Keeps the pointer for the same pair, as a server takes another pointer for another pair.
  void Set(const http::KeyPair& pair) {
    const base::MutexLock lock(mu_);
    if (!pair_ || *pair_ != pair) {
      pair_ = std::make_shared<const http::KeyPair>(pair);
    }
  }

 private:
  mutable base::Mutex mu_;
  PairPtr pair_ KX_GUARDED_BY(mu_);
};

Result<void> Check(const CertRotator::Options& options) {
  const auto wrong = [](const std::string& why) {
    return Fail(Reason::kInvalidConfig, "certificate rotation: " + why);
  };
  if (options.secret.namespace_.empty() || options.secret.name.empty()) {
    return wrong("the Secret needs a namespace and a name");
  }
  if (options.service.namespace_.empty() || options.service.name.empty()) {
    return wrong("the Service needs a namespace and a name");
  }
  if (options.interval <= base::Duration::zero()) {
    return wrong("the interval must be positive");
  }
  if (options.trust_delay < options.interval) {
    return wrong(
        "the delay before a trusted certificate is served must not be shorter than the interval");
  }
  if (options.lifetime <= options.renew_before ||
      options.renew_before <= options.trust_delay + options.interval * 2) {
    return wrong(
        "a certificate must be renewed later than it is made, and earlier than the next one is "
        "trusted");
  }
  if (std::ranges::any_of(options.further_names,
                          [](const std::string& name) { return name.contains('*'); })) {
    return wrong("names with * are not supported");
  }
  return {};
}

std::vector<internal::Configuration> ConfigurationsOf(const CertRotator::Options& options) {
  using Kind = internal::ConfigurationKind;
  std::vector<internal::Configuration> all;
  const auto add = [&all](Kind kind, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      all.push_back({.kind = kind, .name = name});
    }
  };
  add(Kind::kMutating, options.mutating);
  add(Kind::kValidating, options.validating);
  add(Kind::kDefinition, options.definitions);
  return all;
}

internal::Plan PlanOf(const CertRotator::Options& options) {
  const std::string host = options.service.name + "." + options.service.namespace_ + ".svc";
  internal::Plan plan{.names = {host, host + ".cluster.local"},
                      .lifetime = options.lifetime,
                      .renew_before = options.renew_before,
                      .trust_delay = options.trust_delay};
  plan.names.insert(plan.names.end(), options.further_names.begin(), options.further_names.end());
  return plan;
}

}  // namespace

class CertRotator::Impl {
 public:
  Impl(std::shared_ptr<rest::RESTClient> client, Options options)
      : client_(std::move(client)),
        options_(std::move(options)),
        plan_(PlanOf(options_)),
        configurations_(ConfigurationsOf(options_)),
        server_{.service = options_.service, .url = options_.url},
        failure_lines_(options_.clock) {
    if (options_.registry != nullptr) {
      expiration_ = options_.registry->Gauge(
          "kubexx_webhook_certificate_expiration_timestamp_seconds",
          "When the certificate that the webhook server serves expires, in seconds since 1970.");
      errors_ = options_.registry->Counter(
          "kubexx_webhook_certificate_errors_total",
          "Requests that failed while the certificate was distributed or renewed.");
    }
  }

  /// Reads the Secret, makes it if it does not exist, and makes the step that is due. Replicas look
  /// at the same time, since the same step is due for all of them: who was slower looks again.
  Result<internal::Held> Look(std::optional<bool> trusts_next, const std::stop_token& stop) {
    constexpr int kTries = 5;
    for (int left = kTries - 1;; --left) {
      auto looked = LookOnce(trusts_next, stop);
      if (looked || left == 0 || looked.error().reason != Reason::kConflict) {
        return looked;
      }
      trusts_next.reset();  // The Secret may have another next certificate now.
    }
  }

  /// One look at everything. Whether the configurations trust the next certificate is known after
  /// they have been looked at, so this comes first.
  Result<void> Round(const std::stop_token& stop) {
    const auto trusts_next = std::exchange(trusts_next_, std::nullopt);
    KX_ASSIGN_OR_RETURN(const internal::Held held, Look(trusts_next, stop));
    const std::string bundle = internal::Bundle(held, options_.clock.Wall());
    Result<void> first;
    bool all_had_it = true;
    for (const internal::Configuration& configuration : configurations_) {
      const Result<bool> had_it = internal::Trust(client_, configuration, server_, bundle, stop);
      all_had_it = all_had_it && had_it && *had_it;
      if (!had_it && first) {
        first = Fail(had_it.error());  // the others are not to wait for this one
      }
    }
    if (held.next && first) {
      trusts_next_ = all_had_it;
    }
    return first;
  }

  Result<void> Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Result<void> done = Round(stop);
      if (!done && !stop.stop_requested()) {
        errors_.Increment();
        if (const auto left_out = failure_lines_.Admit()) {
          logging::Warning("The webhooks' certificate could not be distributed or renewed",
                           {{"error", done.error()}, {"left_out", *left_out}});
        }
      }
      options_.clock.SleepFor(options_.interval, stop);
    }
    return {};
  }

  const std::shared_ptr<Served>& served() const { return served_; }

 private:
  /// kConflict when another replica has changed or made the Secret meanwhile.
  Result<internal::Held> LookOnce(std::optional<bool> trusts_next, const std::stop_token& stop) {
    const kubernetes::ResourceClient<Secret> secrets(client_, options_.secret.namespace_);
    auto found = secrets.Get(options_.secret.name, stop);
    if (!found && found.error().reason == Reason::kNotFound) {
      return Create(secrets, stop);
    }
    if (!found) {
      return InSecret(found.error());
    }
    internal::Held held = internal::Read(*found);
    KX_ASSIGN_OR_RETURN(const auto step,
                        internal::Advance(held, plan_, options_.clock.Wall(), trusts_next));
    if (step) {
      internal::Write(held, *found);
      if (const auto written = secrets.Update(*found, {}, stop); !written) {
        return InSecret(written.error());
      }
      Tell(*step);
    }
    Serve(held.current);
    return held;
  }

  apimachinery::Error InSecret(const apimachinery::Status& status) const {
    return Fail(status.WithContext("Secret " + options_.secret.ToString() +
                                   " of the webhooks' certificate"));
  }

  Result<internal::Held> Create(const kubernetes::ResourceClient<Secret>& secrets,
                                const std::stop_token& stop) {
    internal::Held held;
    KX_RETURN_IF_ERROR(internal::Advance(held, plan_, options_.clock.Wall(), std::nullopt));
    Secret secret;
    secret.metadata.namespace_ = options_.secret.namespace_;
    secret.metadata.name = options_.secret.name;
    secret.type = "kubernetes.io/tls";
    internal::Write(held, secret);
    const auto created = secrets.Create(secret, {}, stop);
    if (!created && created.error().reason == Reason::kAlreadyExists) {
      return Fail(Reason::kConflict, "another replica has made the Secret " +
                                         options_.secret.ToString() + " in the meantime");
    }
    if (!created) {
      return InSecret(created.error());
    }
    Tell("the first certificate is made");
    Serve(held.current);
    return held;
  }

  void Serve(const http::KeyPair& pair) {
    served_->Set(pair);
    if (const auto validity = http::ValidityOf(pair)) {
      expiration_.Set(
          std::chrono::duration<double>(validity->not_after.time_since_epoch()).count());
    }
  }

  void Tell(const std::string& step) const {
    logging::Info("A step of the rotation of the webhooks' certificate",
                  {{"step", step}, {"secret", options_.secret.ToString()}});
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const Options options_;
  const internal::Plan plan_;
  const std::vector<internal::Configuration> configurations_;
  const internal::WebhookServer server_;
  const std::shared_ptr<Served> served_ = std::make_shared<Served>();
  base::ReportLimit failure_lines_;
  metrics::Gauge expiration_{};
  metrics::Counter errors_{};
  std::optional<bool> trusts_next_;  // Only Run's thread uses it.
};

Result<std::unique_ptr<CertRotator>> CertRotator::New(std::shared_ptr<rest::RESTClient> client,
                                                      Options options, std::stop_token stop) {
  KX_RETURN_IF_ERROR(Check(options));
  auto impl = std::make_unique<Impl>(std::move(client), std::move(options));
  KX_RETURN_IF_ERROR(impl->Look(std::nullopt, stop));
  return std::unique_ptr<CertRotator>(new CertRotator(std::move(impl)));
}

CertRotator::CertRotator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CertRotator::~CertRotator() = default;

std::shared_ptr<const http::KeyPair> CertRotator::Current() const { return impl_->served()->Get(); }

http::CertificateProvider CertRotator::Provider() const {
  return [served = impl_->served()] { return served->Get(); };
}

Result<void> CertRotator::Run(std::stop_token stop) { return impl_->Run(stop); }

}  // namespace kubexx::certrotator
