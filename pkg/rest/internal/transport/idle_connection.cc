#include "kubexx/rest/internal/transport/idle_connection.h"

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cerrno>

namespace kubexx::rest::internal {
namespace {

using boost::asio::ip::tcp;

// There is nothing to read on an idle connection. If there is, it is the connection's end, an
// error, or bytes that would be taken for the response to the next request, such as a 408 that
// announces the end.
bool IsUsable(int fd) {
  char next = 0;
  return ::recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

tcp::socket& SocketOf(void* handle, bool tls) {
  return tls ? static_cast<boost::asio::ssl::stream<tcp::socket&>*>(handle)->next_layer()
             : *static_cast<tcp::socket*>(handle);
}

}  // namespace

void LookBeforeUse(web::http::client::http_client_config& config, bool tls) {
  // This is called for each request, after its connection is chosen and before anything is written.
  config.set_nativehandle_options([tls](void* handle) {
    tcp::socket& socket = SocketOf(handle, tls);
    if (socket.is_open() && !IsUsable(socket.native_handle())) {
      throw ClosedWhileIdle();
    }
  });
}

}  // namespace kubexx::rest::internal
