/// @file
/// KeyPair: the certificate and key of a server.
#ifndef KUBEXX_HTTP_CERTIFICATE_H_
#define KUBEXX_HTTP_CERTIFICATE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::http {

/// A certificate, followed by its chain, and its private key, all PEM. The key's memory is wiped.
struct KeyPair {
  std::string certificate{};
  apimachinery::Bytes key{};
  bool operator==(const KeyPair&) const = default;
};

/// Returns the pair for the next connection; null means that there is no new one, and the last one
/// stays in use. The server calls it for each new connection on its network thread, so it must be
/// quick. A changed pair must be a different pointer. certwatcher::CertWatcher::Provider() makes
/// one from files.
using CertificateProvider = std::function<std::shared_ptr<const KeyPair>()>;

/// A provider that always returns this pair.
CertificateProvider FixedCertificate(KeyPair pair);

/// Returns kInvalidConfig unless `pair` has a certificate and an unencrypted key that belongs to
/// it.
apimachinery::Result<void> CheckKeyPair(const KeyPair& pair);

/// When a certificate is valid, in whole seconds.
struct Validity {
  base::WallTime not_before{};
  base::WallTime not_after{};
  bool operator==(const Validity&) const = default;
};

/// Returns when the pair's first certificate is valid. kInvalidConfig when it cannot be read.
apimachinery::Result<Validity> ValidityOf(const KeyPair& pair);

/// Whether the pair's first certificate is for `name`, a host name or an IP address. False when it
/// cannot be read.
bool IsFor(const KeyPair& pair, const std::string& name);

/// Makes a self-signed certificate with an EC key for `names`, which are host names and IP
/// addresses (an IPv6 address may have the brackets of a URL). For servers whose clients do not
/// verify it, or have been given the certificate itself to trust.
apimachinery::Result<KeyPair> SelfSigned(const std::vector<std::string>& names, Validity validity);
/// The same; the certificate is valid for a year and since an hour ago.
apimachinery::Result<KeyPair> SelfSigned(const std::vector<std::string>& names);

/// Makes an authority of this name, with an EC key, that signs certificates of servers. Clients are
/// given its certificate to trust, and then take any that it signs.
apimachinery::Result<KeyPair> NewAuthority(const std::string& name, Validity validity);

/// Makes a server's certificate with an EC key for `names`, as SelfSigned does, that `authority`
/// has signed. kInvalidConfig when the authority's pair cannot be used.
apimachinery::Result<KeyPair> SignedBy(const KeyPair& authority,
                                       const std::vector<std::string>& names, Validity validity);

}  // namespace kubexx::http

#endif  // KUBEXX_HTTP_CERTIFICATE_H_
