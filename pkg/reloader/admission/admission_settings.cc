#include "kubexx/reloader/admission/admission_settings.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "kubexx/base/ascii.h"

namespace kubexx::reloader {

std::string HostOfAdmission(const std::string& url) {
  constexpr std::string_view kScheme = "https://";
  constexpr std::size_t kMaxPortDigits = 5;
  const std::size_t colon = url.rfind(':');
  if (!url.starts_with(kScheme) || colon < kScheme.size() + 1 ||
      url.find('/', kScheme.size()) != std::string::npos) {
    return {};
  }
  const std::string port = url.substr(colon + 1);
  if (port.empty() || port.size() > kMaxPortDigits || !std::ranges::all_of(port, base::IsDigit)) {
    return {};
  }
  std::string host = url.substr(kScheme.size(), colon - kScheme.size());
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

}  // namespace kubexx::reloader
