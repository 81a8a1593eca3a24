/// @file
/// ProxyTunnel: the talk by which a client gets a connection to a server from a proxy.
#ifndef KUBEXX_REST_PROXY_TUNNEL_H_
#define KUBEXX_REST_PROXY_TUNNEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest {

/// Asks a proxy for a tunnel by CONNECT (RFC 9110), or by SOCKS5 with a user and a password
/// (RFC 1928 and 1929). It is a state machine without I/O: whoever has the connection sends what
/// TakeOutput returns, and passes what comes to Feed, until is_open or an error. What has come is
/// held to a bound. Errors say what the proxy did and what to do about it, but not which proxy it
/// is, and never contain its credentials. Not thread-safe.
///
/// Semantics: those of Go's net/http, which has the proxy look up names for socks5 and socks5h
/// alike, and sends the address where the server's URL has one.
class ProxyTunnel {
 public:
  /// The most that is taken of the answer to a CONNECT. It is far more than proxies send.
  static constexpr std::size_t kMaxAnswer = 64 * 1024;

  /// kInvalidConfig when SOCKS5 has no room for the user, the password or the server's name.
  static apimachinery::Result<ProxyTunnel> New(const Proxy& proxy, const ServerUrl& server);
  ProxyTunnel(ProxyTunnel&&) noexcept;
  ~ProxyTunnel();

  /// Returns what is to be sent now, once. It may hold credentials. Empty when the proxy's answer
  /// has to come first.
  std::string TakeOutput();
  /// Takes bytes of the proxy. kUnavailable says why there is no tunnel; then, and when is_open,
  /// nothing may be fed any more.
  apimachinery::Result<void> Feed(std::string_view bytes);
  /// Whether the connection leads to the server now.
  bool is_open() const;
  /// What it means when the proxy closes the connection now: kUnavailable.
  apimachinery::Status WhenClosed() const;

 private:
  class Talk;
  class Connect;
  class Socks5;
  explicit ProxyTunnel(std::unique_ptr<Talk> talk);
  std::unique_ptr<Talk> talk_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_PROXY_TUNNEL_H_
