#include "kubexx/apiserver/server/serving_certificate.h"

#include <chrono>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;

constexpr std::chrono::hours kBackdated{1};  // For clocks that are behind.
constexpr std::chrono::days kLifetime{365};
constexpr std::chrono::days kRenewedAfter{335};
constexpr std::chrono::years kAuthorityLifetime{100};
constexpr std::chrono::minutes kRetryInterval{1};

}  // namespace

Result<http::KeyPair> NewServerAuthority(base::Clock& clock) {
  const base::WallTime now = clock.Wall();
  return http::NewAuthority("kubexx-apiserver-ca", {.not_before = now - kBackdated,
                                                    .not_after = now + kAuthorityLifetime});
}

ServingCertificate::ServingCertificate(http::KeyPair authority, std::vector<std::string> names,
                                       base::Clock& clock)
    : authority_(std::move(authority)), names_(std::move(names)), clock_(clock) {}

Result<std::shared_ptr<ServingCertificate>> ServingCertificate::New(http::KeyPair authority,
                                                                    std::vector<std::string> names,
                                                                    base::Clock& clock) {
  std::shared_ptr<ServingCertificate> made(
      new ServingCertificate(std::move(authority), std::move(names), clock));
  base::MutexLock lock(made->mu_);
  KX_RETURN_IF_ERROR(made->RenewLocked(clock.Wall()));
  return made;
}

std::shared_ptr<const http::KeyPair> ServingCertificate::Current() {
  const base::WallTime now = clock_.Wall();
  Result<void> renewed;
  std::shared_ptr<const http::KeyPair> current;
  {
    base::MutexLock lock(mu_);
    if (now >= renew_at_) {
      renewed = RenewLocked(now);
    }
    current = current_;
  }
  if (!renewed) {
    logging::Error("Cannot renew the server's certificate", {{"error", renewed.error()}});
  }
  return current;
}

Result<void> ServingCertificate::RenewLocked(base::WallTime now) {
  renew_at_ = now + kRetryInterval;  // So that not each connection tries what fails.
  KX_ASSIGN_OR_RETURN(http::KeyPair made, http::SignedBy(authority_, names_,
                                                         {.not_before = now - kBackdated,
                                                          .not_after = now + kLifetime}));
  current_ = std::make_shared<const http::KeyPair>(std::move(made));
  renew_at_ = now + kRenewedAfter;
  return {};
}

}  // namespace kubexx::apiserver
