/// @file
/// The authority and the token of a server, which stay the same when it restarts.
#ifndef KUBEXX_APISERVER_SERVER_SERVER_IDENTITY_H_
#define KUBEXX_APISERVER_SERVER_SERVER_IDENTITY_H_

#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/http/certificate.h"

namespace kubexx::apiserver {

/// The authority that signs the server's certificates, and the administrator's token.
struct ServerIdentity {
  http::KeyPair authority{};
  apimachinery::Bytes token{};
};

/// Returns the identity that the store holds, and makes it at the first call, so that kubeconfigs
/// stay valid when the server restarts. It is stored beside the objects, where no request can read
/// it. Returns kInternalError when the stored identity cannot be read, and errors of the store.
apimachinery::Result<ServerIdentity> KeepIdentity(storage::Storage& storage, base::Clock& clock,
                                                  const std::stop_token& stop);

/// The host of "host:port" under which clients on this machine reach it. For an address that stands
/// for all interfaces that is the loopback address.
std::string HostOfAddress(std::string_view address);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_SERVER_SERVER_IDENTITY_H_
