/// @file
/// The Authorization header of requests.
#ifndef KUBEXX_REST_INTERNAL_CREDENTIALS_H_
#define KUBEXX_REST_INTERNAL_CREDENTIALS_H_

#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest::internal {

/// Bearer token, token file or basic authentication. Thread-safe.
class Credentials {
 public:
  /// kInvalidConfig when they contradict each other, or when a token file cannot be read and there
  /// is no token beside it.
  static apimachinery::Result<std::unique_ptr<Credentials>> New(const Config& config,
                                                                base::Clock& clock);

  /// The header's value, "" for none. Reads the token file again when that is 50 s ago; a service
  /// account's token is renewed long before it expires. A file that cannot be read, or is empty,
  /// leaves the last token in use.
  std::string Authorization();

 private:
  Credentials(std::string fixed, std::string token_file, base::Clock& clock)
      : token_file_(std::move(token_file)), clock_(clock), value_(std::move(fixed)) {}
  apimachinery::Result<void> ReadLocked() KX_REQUIRES(mu_);

  const std::string token_file_;
  base::Clock& clock_;
  base::Mutex mu_;
  std::string value_ KX_GUARDED_BY(mu_);
  base::TimePoint read_at_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CREDENTIALS_H_
