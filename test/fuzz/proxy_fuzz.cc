// What proxies answer to a client that wants a tunnel: CONNECT and SOCKS5.

#include <string>
#include <string_view>

#include "fuzz.h"
#include "kubexx/rest/proxy_tunnel.h"

namespace kubexx {
namespace {

// Everything that is said, and how it ends.
std::string Played(const rest::Proxy& proxy, fuzz::Input input, bool whole) {
  auto tunnel = rest::ProxyTunnel::New(proxy, {.host = "api.example", .port = "6443"});
  fuzz::Require(tunnel.has_value());
  std::string said = tunnel->TakeOutput();
  std::string error;
  const auto feed = [&](std::string_view bytes) {
    const auto fed = tunnel->Feed(bytes);
    said += tunnel->TakeOutput();
    if (!fed) {
      error = fed.error().message;
      fuzz::Require(!error.empty() && error.size() < 500);
      return false;
    }
    return !tunnel->is_open();
  };
  if (whole) {
    input.TakeByte();
    if (!input.rest().empty()) {
      feed(input.rest());
    }
  } else {
    fuzz::InChunks(input, feed);
  }
  fuzz::Require(!tunnel->WhenClosed().message.empty());
  // What follows the answer is another error, or is not looked at, as the pieces have it.
  const bool open = tunnel->is_open() || error.find("data of its own") != std::string::npos;
  return said + "|" + (open ? "open" : error);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::uint8_t kind = input.TakeByte();
  rest::Proxy proxy;
  proxy.protocol = (kind & 1) != 0 ? rest::ProxyProtocol::kSocks5 : rest::ProxyProtocol::kHttp;
  if ((kind & 2) != 0) {
    proxy.username = "user";
    proxy.password = "password";
  }
  const std::string pieces = Played(proxy, input, false);
  const std::string whole = Played(proxy, input, true);
  fuzz::Require(pieces == whole);
  return 0;
}

}  // namespace kubexx
