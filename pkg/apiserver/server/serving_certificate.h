/// @file
/// The certificate that a server makes itself, and renews while it runs.
#ifndef KUBEXX_APISERVER_SERVER_SERVING_CERTIFICATE_H_
#define KUBEXX_APISERVER_SERVER_SERVING_CERTIFICATE_H_

#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/certificate.h"

namespace kubexx::apiserver {

/// Makes the authority of a server, which is valid for longer than any server runs: kubeconfigs and
/// the ConfigMaps kube-root-ca.crt have its certificate, and stay valid when the server renews its
/// own. It signs nothing else, and its key lies where the administrator's token does.
apimachinery::Result<http::KeyPair> NewServerAuthority(base::Clock& clock);

/// A server's certificate, valid for a year, that is made anew a month before it ends. No thread
/// waits for that: to make one takes less time than the handshake for which it is made. None is
/// stored, so names and addresses may change from one start to the next. Thread-safe.
class ServingCertificate {
 public:
  /// Makes the first certificate, for `names`, signed by `authority`. `clock` must outlive the
  /// result. Returns errors of http::SignedBy.
  static apimachinery::Result<std::shared_ptr<ServingCertificate>> New(
      http::KeyPair authority, std::vector<std::string> names, base::Clock& clock);

  /// The certificate for a new connection. Makes a new one, which takes less than a millisecond,
  /// when it is time. If that fails, the old one is used for another minute.
  std::shared_ptr<const http::KeyPair> Current();

 private:
  ServingCertificate(http::KeyPair authority, std::vector<std::string> names, base::Clock& clock);
  apimachinery::Result<void> RenewLocked(base::WallTime now) KX_REQUIRES(mu_);

  const http::KeyPair authority_;
  const std::vector<std::string> names_;
  base::Clock& clock_;
  base::Mutex mu_;
  std::shared_ptr<const http::KeyPair> current_ KX_GUARDED_BY(mu_);
  base::WallTime renew_at_ KX_GUARDED_BY(mu_){};
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_SERVER_SERVING_CERTIFICATE_H_
