/// @file
/// Where a server listens.
#ifndef KUBEXX_HTTP_INTERNAL_LISTENER_H_
#define KUBEXX_HTTP_INTERNAL_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::http::internal {

/// Lets `acceptor` listen on an address as in Server::Options, without ever waiting when it is
/// asked for a connection. Errors of Server::Start.
apimachinery::Result<void> Listen(boost::asio::io_context& context, const std::string& address,
                                  boost::asio::ip::tcp::acceptor& acceptor);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_LISTENER_H_
