#include "kubexx/rest/proxy.h"

#include "kubexx/codec/base64.h"

namespace kubexx::rest {

std::string Proxy::Origin() const {
  switch (protocol) {
    case ProxyProtocol::kHttp:
      return "http://" + address.Authority();
    case ProxyProtocol::kHttps:
      return "https://" + address.Authority();
    case ProxyProtocol::kSocks5:
      break;
  }
  return "socks5://" + address.Authority();
}

std::string Proxy::Authorization() const {
  return !has_login() ? "" : "Basic " + codec::EncodeBase64(username + ":" + password);
}

}  // namespace kubexx::rest
