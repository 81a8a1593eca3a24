/// @file
/// Certificates of servers.
#ifndef KUBEXX_HTTP_CERTIFICATE_H_
#define KUBEXX_HTTP_CERTIFICATE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::http {

/// A certificate, its chain after it, and its private key, all PEM. The key's memory is wiped.
struct KeyPair {
  std::string certificate{};
  apimachinery::Bytes key{};
  bool operator==(const KeyPair&) const = default;
};

/// Gives the pair to use for the next connection; null: none yet, the last one stays. Called for
/// each new connection on the server's network thread, so it has to be quick; another pair is
/// another pointer. certwatcher::CertWatcher::Provider() makes one from files.
using CertificateProvider = std::function<std::shared_ptr<const KeyPair>()>;

/// A provider of this one pair.
CertificateProvider FixedCertificate(KeyPair pair);

/// kInvalidConfig unless `pair` holds a certificate and an unencrypted key that belongs to it.
apimachinery::Result<void> CheckKeyPair(const KeyPair& pair);

/// A self-signed certificate for `names` (host names and IP addresses, also in the brackets that an
/// IPv6 address has in a URL), valid from an hour ago for a year, with an EC key; for servers whose
/// clients do not verify.
apimachinery::Result<KeyPair> SelfSigned(const std::vector<std::string>& names);

}  // namespace kubexx::http

#endif  // KUBEXX_HTTP_CERTIFICATE_H_
