#include "kubexx/rest/testing/usual_server.h"

namespace kubexx::rest::testing {

const CertificateAuthority& UsualAuthority() {
  static const CertificateAuthority authority("usual");
  return authority;
}

FakeServerTls UsualTls() {
  const CertificateAndKey issued =
      UsualAuthority().Issue({.alternative_names = "IP:127.0.0.1,DNS:api.example"});
  return {.certificate = issued.certificate, .key = issued.key};
}

FakeServerTls UsualTlsForHttp2() {
  FakeServerTls tls = UsualTls();
  tls.http2 = true;
  return tls;
}

FakeServer::Script ClosesOnSecondRequest(std::atomic<int>& connections) {
  return [&connections](FakeConnection& connection) {
    const bool first = ++connections == 1;
    for (int n = 1; connection.ReadRequest() && !(first && n == 2); ++n) {
      connection.Respond(200, "application/json", "{}");
    }
  };
}

}  // namespace kubexx::rest::testing
