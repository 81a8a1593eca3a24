/// @file
/// Listen: opens the socket on which a server listens; and the settings of those of its clients.
#ifndef KUBEXX_HTTP_INTERNAL_LISTENER_H_
#define KUBEXX_HTTP_INTERNAL_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::http::internal {

/// Makes `acceptor` listen on an address as in Server::Options, and makes it non-blocking. Errors
/// are those of Server::Start.
apimachinery::Result<void> Listen(boost::asio::io_context& context, const std::string& address,
                                  boost::asio::ip::tcp::acceptor& acceptor);

/// Lets the system ask a silent client now and then whether it is still there, and end the
/// connection after about two minutes without an answer. Otherwise the connection of a client whose
/// machine is gone could stay for ever, as a server that has nothing to send learns nothing.
void KeepAlive(boost::asio::ip::tcp::socket& socket);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_LISTENER_H_
