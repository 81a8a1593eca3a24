#include "kubexx/rest/internal/credentials/impersonation.h"

#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<std::vector<std::pair<std::string, std::string>>> ImpersonationHeaders(
    const ImpersonationConfig& config) {
  // The bytes that a header name may have besides letters, digits and -._~. "%" is left out,
  // because it begins an escape.
  constexpr std::string_view kNameBytes = "!#$&'*+^`|";
  std::vector<std::pair<std::string, std::string>> headers;
  if (config == ImpersonationConfig{}) {
    return headers;
  }
  if (config.user.empty()) {
    return Fail(Reason::kInvalidConfig,
                "impersonation: a uid, groups or extra values are set but the user is not");
  }
  headers.emplace_back("Impersonate-User", config.user);
  if (!config.uid.empty()) {
    headers.emplace_back("Impersonate-Uid", config.uid);
  }
  for (const std::string& group : config.groups) {
    headers.emplace_back("Impersonate-Group", group);
  }
  for (const auto& [key, values] : config.extra) {
    for (const std::string& value : values) {
      headers.emplace_back("Impersonate-Extra-" + PercentEncode(key, kNameBytes), value);
    }
  }
  for (const auto& [name, value] : headers) {
    if (!CheckHeader(name, value)) {
      return Fail(Reason::kInvalidConfig, "impersonation: " + name + " has control characters");
    }
  }
  return headers;
}

}  // namespace kubexx::rest::internal
