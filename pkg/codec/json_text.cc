#include "kubexx/codec/json_text.h"

#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec {

void AppendQuotedJson(std::string_view text, std::string& out) {
  internal::AppendQuoted(text, out);
}

std::string QuotedJson(std::string_view text) {
  std::string quoted;
  internal::AppendQuoted(text, quoted);
  return quoted;
}

bool NestsDeeperThan(std::string_view json, int levels) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++depth > levels) {
        return true;
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace kubexx::codec
