/// @file
/// Requests that a web page makes in the name of who looks at it.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_ORIGIN_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_ORIGIN_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// For requests whose sender is known by other things than what they say, because the server asks
/// for nothing or the connection has a certificate: a browser sends those for any page. kForbidden
/// when the header Origin names another host than Host and is none of `allowed`, which are such as
/// "https://dashboard.example.com".
apimachinery::Result<void> CheckOrigin(const http::Request& request,
                                       const std::vector<std::string>& allowed);

/// For a server that asks for nothing: kForbidden when Host is a name that anybody may have given
/// this machine's address, by DNS, a search domain or a hosts file: one that is neither localhost's
/// nor one of `own`, the names that the server was told to go by. Addresses are good.
apimachinery::Result<void> CheckHost(const http::Request& request,
                                     const std::vector<std::string>& own);

/// For a server that asks for nothing: kUnsupportedMediaType for a body without a Content-Type,
/// which a browser sends for any page without asking. Other servers take it for JSON, as
/// kube-apiserver does.
apimachinery::Result<void> CheckBody(const http::Request& request);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_ORIGIN_H_
