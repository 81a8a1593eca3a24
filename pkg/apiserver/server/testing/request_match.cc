#include "kubexx/apiserver/server/testing/request_match.h"

#include "kubexx/apiserver/endpoints/request/request_info.h"

namespace kubexx::testing {

bool Matches(const RequestMatch& wanted, const RequestMatch& seen) {
  const auto is = [](const std::string& want, const std::string& value) {
    return want.empty() || want == value;
  };
  return is(wanted.verb, seen.verb) && is(wanted.resource, seen.resource) &&
         is(wanted.namespace_, seen.namespace_) && is(wanted.name, seen.name);
}

std::optional<RequestMatch> PartsOfRequest(std::string_view method, std::string_view path,
                                           std::string_view query) {
  auto info = apiserver::ParseResourcePath(method, path, apiserver::ParseQuery(query));
  if (!info || info->resource.empty()) {
    return std::nullopt;
  }
  return RequestMatch{
      .verb = std::move(info->verb),
      .resource = info->resource + (info->subresource.empty() ? "" : "/" + info->subresource),
      .namespace_ = std::move(info->namespace_),
      .name = std::move(info->name)};
}

}  // namespace kubexx::testing
