#include "kubexx/apiserver/rbac/quote.h"

#include "kubexx/base/hex.h"

namespace kubexx::apiserver::rbac {

std::string Quoted(std::string_view text) {
  constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\"\\";
  constexpr std::string_view kEscaped = "abfnrtv\"\\";
  std::string quoted = "\"";
  for (const char c : text) {
    if (const std::size_t at = kPlain.find(c); at != std::string_view::npos) {
      quoted.push_back('\\');
      quoted.push_back(kEscaped[at]);
    } else if (const auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7f) {
      quoted += "\\x";
      base::AppendHex(code, quoted);
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

}  // namespace kubexx::apiserver::rbac
