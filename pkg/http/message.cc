#include "kubexx/http/message.h"

#include <algorithm>

namespace kubexx::http {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view Request::Header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [name](const auto& header) {
    return std::ranges::equal(header.first, name, {}, Lower, Lower);
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
