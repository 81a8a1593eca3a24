#include "kubexx/codec/internal/json_pretty.h"

#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec::internal {

void AppendPretty(std::string_view json, std::string& out) {
  std::size_t depth = 0;
  const auto new_line = [&out, &depth] {
    out += '\n';
    out.append(depth * 2, ' ');
  };
  const char* const end = json.data() + json.size();
  const char* p = json.data();
  while (p != end) {
    const char c = *p;
    if (c == '"') {
      const char* const after = ScanString(p, end);
      out.append(p, after);
      p = after;
      continue;
    }
    ++p;
    if (c == '{' || c == '[') {
      out += c;
      if (*p == '}' || *p == ']') {
        out += *p++;
      } else {
        ++depth;
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      out += c;
    } else {
      out += c;
      if (c == ',') {
        new_line();
      } else if (c == ':') {
        out += ' ';
      }
    }
  }
}

}  // namespace kubexx::codec::internal
