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

/// With that of GNU dialects, as which a user's project may be compiled.
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
      "xor",           "xor_eq",      "typeof"};
  return keywords;
}

/// Lower-case macros without parameters of the headers of C and POSIX, of which libstdc++ includes
/// several, and of GNU dialects. A macro with parameters, such as major, leaves a name alone that
/// no parenthesis follows.
const std::set<std::string_view>& MemberMacros() {
  static const std::set<std::string_view> macros = {
      "errno",    "h_addr",     "h_errno",      "i386",           "linux",      "math_errhandling",
      "s6_addr",  "sa_handler", "sa_sigaction", "sched_priority", "si_addr",    "si_arch",
      "si_band",  "si_fd",      "si_int",       "si_lower",       "si_overrun", "si_pid",
      "si_pkey",  "si_ptr",     "si_status",    "si_stime",       "si_syscall", "si_timerid",
      "si_uid",   "si_upper",   "si_utime",     "si_value",       "st_atime",   "st_ctime",
      "st_mtime", "stderr",     "stdin",        "stdout",         "unix"};
  return macros;
}

/// Those that look like a type's name and that the generated headers bring with them, and two of
/// <cmath>.
const std::set<std::string_view>& TypeMacros() {
  static const std::set<std::string_view> macros = {"BUFSIZ", "EOF",   "INFINITY", "NAN",
                                                    "NULL",   "NZERO", "WEOF"};
  return macros;
}

bool IsReserved(std::string_view name) {
  return Keywords().contains(name) || MemberMacros().contains(name);
}

/// Whether a character that turns the direction of the text around it begins at `i`: U+202A to
/// U+202E and U+2066 to U+2069, each of three bytes. An editor shows such code in another order
/// than the compiler reads it.
bool TurnsDirection(std::string_view text, std::size_t i) {
  if (i + 2 >= text.size() || text[i] != '\xe2') {
    return false;
  }
  const auto last = static_cast<unsigned char>(text[i + 2]);
  return (text[i + 1] == '\x80' && last >= 0xaa && last <= 0xae) ||
         (text[i + 1] == '\x81' && last >= 0xa6 && last <= 0xa9);
}

/// As three octal digits: whatever comes next is no part of it.
void AppendEscaped(char c, std::string& out) {
  const auto code = static_cast<unsigned char>(c);
  out += '\\';
  out += static_cast<char>('0' + (code >> 6));
  out += static_cast<char>('0' + ((code >> 3) & 7));
  out += static_cast<char>('0' + (code & 7));
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
  if (IsReserved(member)) {
    member += '_';
  }
  return member.empty() || IsDigit(member[0]) ? "field_" + member : member;
}

std::string JsonSpelling(std::string_view member) {
  std::string name;
  bool begins = false;
  for (const char c : member) {
    if (c != '_') {
      name += begins ? ToUpperCase(c) : c;
    }
    begins = c == '_';
  }
  return name;
}

std::string JsonName(std::string_view member) {
  std::string name = JsonSpelling(member);
  return MemberName(name) == member ? name : "";
}

std::string Identifier(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, [](char c) { return !IsWordCharacter(c); }, '_');
  if (out.empty() || !(IsLower(out[0]) || IsUpper(out[0]))) {
    out.insert(0, "group_");
  }
  return IsReserved(out) ? out + "_" : out;
}

bool IsTypeName(std::string_view name) {
  return !name.empty() && IsUpper(name[0]) && std::ranges::all_of(name, IsWordCharacter) &&
         !TypeMacros().contains(name);
}

bool IsNamespace(std::string_view name) {
  while (true) {
    const std::size_t end = name.find("::");
    const std::string_view part = name.substr(0, end);
    if (part.empty() || IsDigit(part[0]) || part == "std" || IsReserved(part) ||
        !std::ranges::all_of(part, [](char c) { return c == '_' || IsWordCharacter(c); })) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
    name.remove_prefix(end + 2);
  }
}

std::string WithoutTurns(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (TurnsDirection(text, i)) {
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    if (text[i] == '"' || text[i] == '\\') {
      out += '\\';
      out += text[i];
    } else if (code < 0x20 || code == 0x7f) {
      AppendEscaped(text[i], out);
    } else if (TurnsDirection(text, i)) {
      AppendEscaped(text[i], out);
      AppendEscaped(text[++i], out);
      AppendEscaped(text[++i], out);
    } else {
      out += text[i];
    }
  }
  return out + "\"";
}

std::string NameSet::Add(const std::string& base, std::string_view separator,
                         std::initializer_list<Affixes> also) {
  int& next = next_[base];
  while (true) {
    std::string name = next == 0 ? base : base + std::string(separator) + std::to_string(next + 1);
    ++next;
    const auto is_free = [this, &name](const Affixes& with) {
      return !names_.contains(std::string(with.first) + name + std::string(with.second));
    };
    if (names_.contains(name) || !std::ranges::all_of(also, is_free)) {
      continue;
    }
    for (const Affixes& with : also) {
      names_.insert(std::string(with.first) + name + std::string(with.second));
    }
    names_.insert(name);
    return name;
  }
}

}  // namespace kubexx::crdgen
