/// @file
/// What the ways into the page ask about the request of a browser.
#ifndef KUBEXX_RELOADER_UI_BROWSER_REQUEST_H_
#define KUBEXX_RELOADER_UI_BROWSER_REQUEST_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/message.h"

namespace kubexx::reloader {

/// Makes a secret of 256 random bits, as hexadecimal digits. Fails when the system has no random
/// bytes.
apimachinery::Result<std::string> NewSecret();

/// The value of the first cookie of this name; std::nullopt when there is none.
std::optional<std::string_view> CookieOf(const http::Request& request, std::string_view name);

/// The host in "host", "host:port", "[v6]" or "[v6]:port", without brackets; "" for other texts.
std::string HostIn(std::string_view address);

/// Whether another page, of another origin, has made the browser send the request: by what the
/// browser says in Sec-Fetch-Site, which no page can set, and where it says nothing by its Origin,
/// which has to be that of the Host, with http or https. A proxy may have changed the Host; then
/// only browsers that send Sec-Fetch-Site can be told from others. Where the request follows a
/// link, `may_follow_links`, the link may be anywhere.
bool IsFromElsewhere(const http::Request& request, bool may_follow_links);

/// The answer 403 to a request that is from elsewhere. It says what of the request is to blame.
http::Response ElsewhereAnswer(const http::Request& request);

/// The answer 403 with this text.
http::Response ForbiddenAnswer(std::string_view why);

/// A small page for those who are not in. `head` and `text` are HTML.
std::string SmallPage(std::string_view head, std::string_view text);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_BROWSER_REQUEST_H_
