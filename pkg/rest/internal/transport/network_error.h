/// @file
/// DescribeFailure: turns an exception of cpprestsdk into a Failure.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_ERROR_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_ERROR_H_

#include <exception>
#include <string>

#include "kubexx/rest/internal/transport/exchange.h"

namespace kubexx::rest::internal {

/// `verify_error` is the reason why the client rejected the server's certificate, or "" when it did
/// not.
Failure DescribeFailure(const std::exception_ptr& error, const std::string& verify_error);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_ERROR_H_
