#include "kubexx/base/utf8.h"

namespace kubexx::base {
namespace {

/// The lead byte's share of the code point and how many bytes follow it.
struct Lead {
  std::uint32_t bits;
  std::size_t following;
  std::uint32_t smallest;
};

bool ReadLead(unsigned char byte, Lead& lead) {
  if ((byte & 0xE0U) == 0xC0U) {
    lead = {byte & 0x1FU, 1, 0x80};
  } else if ((byte & 0xF0U) == 0xE0U) {
    lead = {byte & 0x0FU, 2, 0x800};
  } else if ((byte & 0xF8U) == 0xF0U) {
    lead = {byte & 0x07U, 3, 0x10000};
  } else {
    return false;
  }
  return true;
}

}  // namespace

CodePoint DecodeFirst(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    return {first, 1, true};
  }
  const CodePoint broken{first, 1, false};
  Lead lead{};
  if (!ReadLead(first, lead) || text.size() <= lead.following) {
    return broken;
  }
  std::uint32_t code = lead.bits;
  for (std::size_t i = 1; i <= lead.following; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) {
      return broken;
    }
    code = (code << 6U) | (byte & 0x3FU);
  }
  if (code < lead.smallest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return broken;
  }
  return {code, lead.following + 1, true};
}

bool NeedsEscape(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE007F);
}

std::string ToValidUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = DecodeFirst(text);
    out += point.valid ? text.substr(0, point.size) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(point.size);
  }
  return out;
}

std::string CutUtf8(std::string_view text, std::size_t max_bytes) {
  // What is cut off need not be repaired; a repaired byte takes three, never fewer than it had.
  std::string out = ToValidUtf8(text.substr(0, max_bytes + 4));
  if (out.size() <= max_bytes) {
    return out;
  }
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80U) {
    --end;
  }
  out.resize(end);
  return out;
}

}  // namespace kubexx::base
