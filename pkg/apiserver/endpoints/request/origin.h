/// @file
/// Protection against requests that a web page sends through the browser of a user (CSRF, DNS
/// rebinding).
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_ORIGIN_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_ORIGIN_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// For requests that a browser can send on behalf of any web page, because the server needs no
/// token or the connection has a client certificate. Returns kForbidden when the header Origin
/// names another host than the header Host and is not in `allowed`, whose elements are origins such
/// as "https://dashboard.example.com".
apimachinery::Result<void> CheckOrigin(const http::Request& request,
                                       const std::vector<std::string>& allowed);

/// For a server that needs no credentials. Returns kForbidden when the header Host is a name to
/// which anybody may have given this machine's address, by DNS, a search domain or a hosts file. It
/// accepts IP addresses, localhost, and the names `own`, which the server was told are its own.
apimachinery::Result<void> CheckHost(const http::Request& request,
                                     const std::vector<std::string>& own);

/// For a server that needs no credentials. Returns kUnsupportedMediaType for a POST with a body
/// without a Content-Type, because a browser sends such a request for any web page without a
/// preflight; it sends no other method with a body so. Servers with credentials treat the body as
/// JSON, as kube-apiserver does, and all servers that of another method: `kubectl scale
/// --current-replicas` sends such a PUT.
apimachinery::Result<void> CheckBody(const http::Request& request);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_ORIGIN_H_
