/// @file
/// LinkAccess: a link that works once lets a browser in.
#ifndef KUBEXX_RELOADER_UI_LINK_ACCESS_H_
#define KUBEXX_RELOADER_UI_LINK_ACCESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/base/mutex.h"
#include "kubexx/http/message.h"
#include "kubexx/reloader/ui/page_access.h"

namespace kubexx::reloader {

/// Whether only this machine can reach an address that a server listens on, "host:port": a loopback
/// address, or "localhost".
bool IsLoopbackAddress(std::string_view address);

/// Lets nobody in but the person who has started the program, and no other web page. A link with a
/// token, which works once, gives a browser a cookie, without which everything is refused. Neither
/// other users of the machine have the token, nor does another page get the browser to send the
/// cookie: it is SameSite=Strict, requests with a foreign Origin, or that the browser says come
/// from another origin, are refused, and so are those for a host with a name, because a name can be
/// made to point to this machine (DNS rebinding). Thread-safe.
class LinkAccess final : public PageAccess {
 public:
  /// What lets in, and where.
  struct Options {
    std::string token{};                  ///< of the first link
    std::string session{};                ///< the value of the cookie
    std::string address = "127.0.0.1:0";  ///< on which the server listens, "host:port"
    /// Called with the next link each time a link has been used. Must not block for long.
    std::function<void(const std::string& link)> on_link{};
  };
  explicit LinkAccess(Options options);

  /// The link by which a browser gets in, once. The server must have called SetPort.
  std::string Link() const;

  /// The port is a part of the cookie's name, because a browser sends a host's cookies to all its
  /// ports.
  void SetPort(std::uint16_t port) override;
  std::optional<std::string> ClientOf(const http::Request& header) const override;
  /// 403 for a foreign host or origin, 405 for a method other than GET and HEAD, and 401 without
  /// the cookie; the way in is /enter.
  std::optional<http::Response> Answer(const http::Request& request) override;

 private:
  bool HasSession(const http::Request& request) const;
  http::Response Enter(const http::Request& request);
  std::string CookieName() const KX_REQUIRES(mu_);

  const Options options_;
  mutable base::Mutex mu_;
  std::string token_ KX_GUARDED_BY(mu_);
  std::uint16_t port_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_LINK_ACCESS_H_
