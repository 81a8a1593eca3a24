#include "kubexx/http/message.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::http {

std::string_view Request::Header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [name](const auto& header) {
    const auto lower = [](char c) { return base::ToLower(c); };
    return std::ranges::equal(header.first, name, {}, lower, lower);
  });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

apimachinery::Result<void> Waiting::Check() const {
  if (granted_) {
    return {};
  }
  apimachinery::Status status(apimachinery::Reason::kTooManyRequests,
                              "too many requests are already waiting for others", 429);
  status.details.retry_after = std::chrono::seconds(1);
  return apimachinery::Fail(std::move(status));
}

Handler Filtered(Filter filter, Handler handler) {
  return [filter = std::move(filter), handler = std::move(handler)](const Request& request) {
    std::optional<Response> refused = filter(request);
    return refused ? std::move(*refused) : handler(request);
  };
}

}  // namespace kubexx::http
