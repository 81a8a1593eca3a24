#include "kubexx/apiserver/rbac/quote.h"

namespace kubexx::apiserver::rbac {

std::string Quoted(std::string_view text) {
  constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\"\\";
  constexpr std::string_view kEscaped = "abfnrtv\"\\";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    if (const std::size_t at = kPlain.find(c); at != std::string_view::npos) {
      quoted.push_back('\\');
      quoted.push_back(kEscaped[at]);
    } else if (const auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7f) {
      quoted += "\\x";
      quoted.push_back(kDigits[code / 16]);
      quoted.push_back(kDigits[code % 16]);
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

}  // namespace kubexx::apiserver::rbac
