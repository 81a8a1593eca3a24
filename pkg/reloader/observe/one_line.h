/// @file
/// Shows text on one line of a terminal.
#ifndef KUBEXX_RELOADER_OBSERVE_ONE_LINE_H_
#define KUBEXX_RELOADER_OBSERVE_ONE_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/base/utf8.h"

namespace kubexx::reloader {

/// Returns `text` as a part of one line for a terminal: values of annotations and names may contain
/// anything. What base::NeedsEscape names becomes `\n`, `\t`, or `\x1b`, `\u202e` and `\U000e0001`
/// as in C++, and bytes that are not UTF-8 become U+FFFD. Quotes and backslashes stay as they are.
/// Thread-safe.
inline std::string ToOneLine(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const base::CodePoint point = base::DecodeFirst(text);
    const std::uint32_t code = point.code;
    if (!point.valid) {
      out += "\xef\xbf\xbd";
    } else if (!base::NeedsEscape(code)) {
      out += text.substr(0, point.size);
    } else if (code == '\n' || code == '\t') {
      out += code == '\n' ? "\\n" : "\\t";
    } else {
      out += code < 0x100 ? "\\x" : code < 0x10000 ? "\\u" : "\\U";
      for (int shift = code < 0x100 ? 4 : code < 0x10000 ? 12 : 28; shift >= 0; shift -= 4) {
        out += "0123456789abcdef"[(code >> static_cast<unsigned>(shift)) & 0xFU];
      }
    }
    text.remove_prefix(point.size);
  }
  return out;
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_ONE_LINE_H_
