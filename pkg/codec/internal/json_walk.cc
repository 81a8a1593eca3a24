#include "kubexx/codec/internal/json_walk.h"

namespace kubexx::codec::internal {
namespace {

std::string_view TextBetween(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

bool ForEachMember(std::string_view text,
                   base::FunctionRef<bool(std::string_view, std::string_view)> member,
                   int max_depth) {
  const char* const end = text.data() + text.size();
  const char* p = SkipSpace(text.data(), end);
  if (p == end || *p != '{') {
    return false;
  }
  p = SkipSpace(p + 1, end);
  if (p != end && *p == '}') {
    return SkipSpace(p + 1, end) == end;
  }
  while (p != end && *p == '"') {
    const char* const key_end = ScanString(p, end);
    if (key_end == nullptr) {
      return false;
    }
    std::string_view key = TextBetween(p + 1, key_end - 1);
    std::string unescaped;
    if (key.find('\\') != std::string_view::npos) {
      AppendUnquoted(TextBetween(p, key_end), unescaped);
      key = unescaped;
    }
    p = SkipSpace(key_end, end);
    if (p == end || *p != ':') {
      return false;
    }
    p = SkipSpace(p + 1, end);
    const char* const value_end = ScanValue(p, end, max_depth);
    if (value_end == nullptr || !member(key, TextBetween(p, value_end))) {
      return false;
    }
    p = SkipSpace(value_end, end);
    if (p != end && *p == '}') {
      return SkipSpace(p + 1, end) == end;
    }
    if (p == end || *p != ',') {
      return false;
    }
    p = SkipSpace(p + 1, end);
  }
  return false;
}

bool ForEachElement(std::string_view text, base::FunctionRef<bool(std::string_view)> element) {
  const char* const end = text.data() + text.size();
  const char* p = SkipSpace(text.data(), end);
  if (p == end || *p != '[') {
    return false;
  }
  p = SkipSpace(p + 1, end);
  if (p != end && *p == ']') {
    return SkipSpace(p + 1, end) == end;
  }
  while (p != end) {
    const char* const value_end = ScanValue(p, end);
    if (value_end == nullptr || !element(TextBetween(p, value_end))) {
      return false;
    }
    p = SkipSpace(value_end, end);
    if (p != end && *p == ']') {
      return SkipSpace(p + 1, end) == end;
    }
    if (p == end || *p != ',') {
      return false;
    }
    p = SkipSpace(p + 1, end);
  }
  return false;
}

bool ReadString(std::string_view value, std::string& out) {
  out.clear();
  if (value == "null") {
    return true;
  }
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') {
    return false;
  }
  AppendUnquoted(value, out);
  return true;
}

}  // namespace kubexx::codec::internal
