/// @file
/// Reads a document with a fixed path.
#ifndef KUBEXX_DISCOVERY_INTERNAL_FETCH_H_
#define KUBEXX_DISCOVERY_INTERNAL_FETCH_H_

#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::discovery::internal {

/// Gets `path` and decodes the answer into `out`, a value of `schema`. Returns kMalformed if the
/// answer is of another kind.
apimachinery::Result<void> Fetch(rest::RESTClient& client, std::string_view path,
                                 std::string_view accept_parameters,
                                 const codec::TypeSchema& schema, void* out,
                                 const std::stop_token& stop);

template <class T>
apimachinery::Result<T> Fetch(rest::RESTClient& client, std::string_view path,
                              std::string_view accept_parameters, const std::stop_token& stop) {
  T out{};
  KX_RETURN_IF_ERROR(Fetch(client, path, accept_parameters, codec::SchemaOf<T>(), &out, stop));
  return out;
}

}  // namespace kubexx::discovery::internal

#endif  // KUBEXX_DISCOVERY_INTERNAL_FETCH_H_
