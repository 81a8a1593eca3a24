/// @file
/// The implementation class of RESTClient.
#ifndef KUBEXX_REST_INTERNAL_CLIENT_IMPL_H_
#define KUBEXX_REST_INTERNAL_CLIENT_IMPL_H_

#include <memory>

#include "kubexx/rest/internal/sender.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::rest {

class RESTClient::Impl {
 public:
  std::unique_ptr<internal::Sender> sender{};
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_INTERNAL_CLIENT_IMPL_H_
