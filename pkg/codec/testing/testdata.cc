#include "kubexx/codec/testing/testdata.h"

#include <simdjson.h>

#include <fstream>
#include <iterator>
#include <map>

namespace kubexx::codec::testing {
namespace {

std::string Canonical(simdjson::dom::element element) {
  std::string out;
  simdjson::dom::array array;
  if (!element.get(array)) {
    for (const auto item : array) {
      out += (out.empty() ? "" : ",") + Canonical(item);
    }
    return "[" + out + "]";
  }
  simdjson::dom::object object;
  if (!element.get(object)) {
    std::map<std::string, std::string> members;
    for (const auto member : object) {
      members[std::string(member.key)] = Canonical(member.value);
    }
    for (const auto& [key, value] : members) {
      out += (out.empty() ? "\"" : ",\"") + key + "\":" + value;
    }
    return "{" + out + "}";
  }
  return simdjson::minify(element);
}

}  // namespace

std::string CanonicalJson(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  if (const auto code = parser.parse(json.data(), json.size()).get(element)) {
    return std::string("not JSON: ") + simdjson::error_message(code);
  }
  return Canonical(element);
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += out.empty() ? "" : " ";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string FromHex(std::string_view hex) {
  std::string out;
  int digits = 0;
  int byte = 0;
  for (const char c : hex) {
    if (c == ' ') {
      continue;
    }
    byte = byte * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    if (++digits == 2) {
      out += static_cast<char>(byte);
      digits = 0;
      byte = 0;
    }
  }
  return out;
}

}  // namespace kubexx::codec::testing
