#include "kubexx/http/message.h"

#include <algorithm>

#include "kubexx/base/ascii.h"

namespace kubexx::http {

std::string_view Request::Header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [name](const auto& header) {
    const auto lower = [](char c) { return base::ToLower(c); };
    return std::ranges::equal(header.first, name, {}, lower, lower);
  });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

Handler Filtered(Filter filter, Handler handler) {
  return [filter = std::move(filter), handler = std::move(handler)](const Request& request) {
    std::optional<Response> refused = filter(request);
    return refused ? std::move(*refused) : handler(request);
  };
}

}  // namespace kubexx::http
