#include <utility>
// Asio needs <utility> first.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/ip/v6_only.hpp>
#include <vector>

#include "kubexx/http/internal/address.h"
#include "kubexx/http/internal/listener.h"

namespace kubexx::http::internal {
namespace {

namespace asio = boost::asio;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using boost::system::error_code;
using tcp = asio::ip::tcp;

Result<std::vector<tcp::endpoint>> Resolve(asio::io_context& context, const HostPort& address) {
  if (address.host.empty()) {
    return std::vector<tcp::endpoint>{tcp::endpoint(tcp::v6(), address.port),
                                      tcp::endpoint(tcp::v4(), address.port)};
  }
  error_code error;
  const auto found = tcp::resolver(context).resolve(
      address.host, std::to_string(address.port),
      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  std::vector<tcp::endpoint> endpoints;
  if (!error) {
    for (const auto& entry : found) {
      endpoints.push_back(entry.endpoint());
    }
  }
  if (endpoints.empty()) {
    return Fail(Reason::kInvalidConfig, "host \"" + address.host + "\": " + error.message());
  }
  return endpoints;
}

error_code ListenOn(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error && endpoint.address().is_v6()) {
    acceptor.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(tcp::acceptor::max_listen_connections, error);
  }
  if (!error) {
    acceptor.non_blocking(true, error);
  }
  if (error) {
    error_code ignored;
    acceptor.close(ignored);
  }
  return error;
}

}  // namespace

void KeepAlive(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  for (const auto& [name, value] :
       {std::pair(TCP_KEEPIDLE, 60), std::pair(TCP_KEEPINTVL, 15), std::pair(TCP_KEEPCNT, 4),
        // While something is on the way to the client, there is no probe.
        std::pair(TCP_USER_TIMEOUT, 120'000)}) {
    (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, sizeof(value));
  }
}

Result<void> Listen(asio::io_context& context, const std::string& address,
                    tcp::acceptor& acceptor) {
  KX_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(address));
  KX_ASSIGN_OR_RETURN(const std::vector<tcp::endpoint> endpoints, Resolve(context, parsed));
  error_code error;
  for (const tcp::endpoint& endpoint : endpoints) {
    error = ListenOn(acceptor, endpoint);
    // Without IPv6 on this host the IPv4 address is next; a taken port is taken.
    if (!error || error == asio::error::address_in_use) {
      break;
    }
  }
  if (error) {
    return Fail(Reason::kUnavailable, "listen on \"" + address + "\": " + error.message());
  }
  return {};
}

}  // namespace kubexx::http::internal
