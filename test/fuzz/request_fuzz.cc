// Any line as the method, path and query of a request to the API server, any other as its Accept
// header. What is understood must keep the rules that the handlers rely on.

#include <algorithm>
#include <chrono>
#include <string>

#include "fuzz.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/apiserver/endpoints/request/request_info.h"
#include "kubexx/apiserver/object/selection.h"
#include "kubexx/apiserver/resources/builtin_types.h"

namespace kubexx {
namespace {

void Path(std::string_view method, std::string_view path, const apiserver::Query& query) {
  static_cast<void>(apiserver::DecodePath(path).has_value());
  const auto info = apiserver::ParseResourcePath(method, path, query);
  if (!info) {
    return;
  }
  fuzz::Require(path.starts_with("/") || path.starts_with("api") || path.starts_with("%"));
  fuzz::Require(!info->version.empty());
  fuzz::Require(info->subresource.empty() || !info->name.empty());
  fuzz::Require(info->name.empty() || !info->resource.empty());
  fuzz::Require(info->verb != "get" || !info->name.empty());
  fuzz::Require(info->verb != "deletecollection" || info->name.empty());
}

void Options(const apiserver::Query& query) {
  if (const auto options = apiserver::ListOptionsOf(query)) {
    fuzz::Require(options->limit >= 0);
    // A negative timeout has run out already; any is added to the time of a clock.
    fuzz::Require(options->timeout <= std::chrono::hours(24) * 365 * 100);
  }
  const auto number = apiserver::RevisionParam(apiserver::Param(query, "resourceVersion"));
  fuzz::Require(!number || *number >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), size);
  std::string_view target = text.substr(0, line);
  const std::size_t space = std::min(target.find(' '), target.size());
  const std::string_view method = target.substr(0, space);
  target.remove_prefix(std::min(space + 1, target.size()));
  const std::size_t mark = std::min(target.find('?'), target.size());
  const apiserver::Query query =
      apiserver::ParseQuery(target.substr(std::min(mark + 1, target.size())));
  Path(method, target.substr(0, mark), query);
  Options(query);

  const std::string_view accept = text.substr(std::min(line + 1, size));
  const auto types = apiserver::BuiltinTypes();
  static_cast<void>(apiserver::ParseAccept(accept).size());
  if (const auto form = apiserver::Negotiate(accept, apiserver::OfferOf(*types.front(), nullptr))) {
    fuzz::Require(!form->ContentType().empty());
  }
  return 0;
}

}  // namespace kubexx
