/// @file
/// What clients know a server by, over its restarts.
#ifndef KUBEXX_APISERVER_SERVER_SERVER_IDENTITY_H_
#define KUBEXX_APISERVER_SERVER_SERVER_IDENTITY_H_

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/http/certificate.h"

namespace kubexx::apiserver {

/// A self-signed certificate and the administrator's token.
struct ServerIdentity {
  http::KeyPair certificate{};
  apimachinery::Bytes token{};
};

/// Gives the identity that is kept in the store, beside the objects, where no request reaches it;
/// made at the first call, so that kubeconfigs stay good when the server is started again. The
/// certificate is made anew for other `names`, and a month before it is over; the token stays.
/// kInternalError for what cannot be read, and errors of the store.
apimachinery::Result<ServerIdentity> KeepIdentity(storage::Storage& storage,
                                                  const std::vector<std::string>& names,
                                                  base::Clock& clock, const std::stop_token& stop);

/// The host of "host:port" as clients on this machine name it: the loopback address for all
/// addresses.
std::string HostOfAddress(std::string_view address);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_SERVER_SERVER_IDENTITY_H_
