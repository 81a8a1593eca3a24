/// @file
/// What many tests have their FakeServer be and do.
#ifndef KUBEXX_REST_TESTING_USUAL_SERVER_H_
#define KUBEXX_REST_TESTING_USUAL_SERVER_H_

#include <atomic>
#include <optional>
#include <string>

#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

/// The authority of UsualTls, the same for the whole program.
const CertificateAuthority& UsualAuthority();

/// A new certificate for 127.0.0.1 and api.example, the name that a ForwardingProxy leads to.
FakeServerTls UsualTls();
/// UsualTls of a server that speaks HTTP/2.
FakeServerTls UsualTlsForHttp2();
/// UsualTls, or none.
inline std::optional<FakeServerTls> UsualTlsIf(bool tls) {
  return tls ? std::optional(UsualTls()) : std::nullopt;
}
/// What a client of that server trusts: TlsConfig::ca_data.
inline std::string UsualCaIf(bool tls) { return tls ? UsualAuthority().certificate() : ""; }

/// Answers every request with 200 and `{}`, but closes the first connection instead of answering
/// its second request, as a server does that has just taken the connection for idle. Counts the
/// connections in `connections`, which must outlive the server.
FakeServer::Script ClosesOnSecondRequest(std::atomic<int>& connections);

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_USUAL_SERVER_H_
