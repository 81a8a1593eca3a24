#include "kubexx/crdgen/names.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace kubexx::crdgen {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordCharacter(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }
char ToUpperCase(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
char ToLowerCase(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// The last two are macros of GNU dialects, as which a user's project may be compiled.
const std::set<std::string_view>& Keywords() {
  static const std::set<std::string_view> keywords = {
      "alignas",       "alignof",     "and",
      "and_eq",        "asm",         "auto",
      "bitand",        "bitor",       "bool",
      "break",         "case",        "catch",
      "char",          "char8_t",     "char16_t",
      "char32_t",      "class",       "compl",
      "concept",       "const",       "consteval",
      "constexpr",     "constinit",   "const_cast",
      "continue",      "co_await",    "co_return",
      "co_yield",      "decltype",    "default",
      "delete",        "do",          "double",
      "dynamic_cast",  "else",        "enum",
      "explicit",      "export",      "extern",
      "false",         "float",       "for",
      "friend",        "goto",        "if",
      "inline",        "int",         "long",
      "mutable",       "namespace",   "new",
      "noexcept",      "not",         "not_eq",
      "nullptr",       "operator",    "or",
      "or_eq",         "private",     "protected",
      "public",        "register",    "reinterpret_cast",
      "requires",      "return",      "short",
      "signed",        "sizeof",      "static",
      "static_assert", "static_cast", "struct",
      "switch",        "template",    "this",
      "thread_local",  "throw",       "true",
      "try",           "typedef",     "typeid",
      "typename",      "union",       "unsigned",
      "using",         "virtual",     "void",
      "volatile",      "wchar_t",     "while",
      "xor",           "xor_eq",      "linux",
      "unix"};
  return keywords;
}

/// Whether the capital at `i` ends an acronym in the plural: the P of "clusterIPs".
bool EndsPluralOfAcronym(std::string_view name, std::size_t i) {
  return name[i + 1] == 's' && (i + 2 == name.size() || IsUpper(name[i + 2]));
}

/// Whether a word begins at `i`, which is not the first character of one.
bool BeginsWord(std::string_view name, std::size_t i) {
  if (!IsUpper(name[i])) {
    return false;
  }
  return !IsUpper(name[i - 1]) ||
         (i + 1 < name.size() && IsLower(name[i + 1]) && !EndsPluralOfAcronym(name, i));
}

}  // namespace

std::string CamelCase(std::string_view name) {
  std::string out;
  bool begins = true;
  for (const char c : name) {
    if (IsWordCharacter(c)) {
      out += begins ? ToUpperCase(c) : c;
    }
    begins = !IsWordCharacter(c);
  }
  return out;
}

std::string MemberName(std::string_view name) {
  std::string member;
  bool begins = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!IsWordCharacter(name[i])) {
      begins = true;
      continue;
    }
    if ((begins && !member.empty()) || (!begins && BeginsWord(name, i))) {
      member += '_';
    }
    member += ToLowerCase(name[i]);
    begins = false;
  }
  if (Keywords().contains(member)) {
    member += '_';
  }
  return member.empty() || IsDigit(member[0]) ? "field_" + member : member;
}

std::string Identifier(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, [](char c) { return !IsWordCharacter(c); }, '_');
  if (out.empty() || !(IsLower(out[0]) || IsUpper(out[0]))) {
    out.insert(0, "group_");
  }
  return Keywords().contains(out) ? out + "_" : out;
}

bool IsTypeName(std::string_view name) {
  return !name.empty() && IsUpper(name[0]) && std::ranges::all_of(name, IsWordCharacter);
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7f) {
      // Three digits: whatever comes next is no part of it.
      out += '\\';
      out += static_cast<char>('0' + (code >> 6));
      out += static_cast<char>('0' + ((code >> 3) & 7));
      out += static_cast<char>('0' + (code & 7));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace kubexx::crdgen
