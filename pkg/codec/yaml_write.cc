#include <algorithm>
#include <cstdint>
#include <map>

#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/json_walk.h"
#include "kubexx/codec/internal/yaml_scalar.h"
#include "kubexx/codec/yaml.h"

namespace kubexx::codec {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Whether YAML reads `text`, written bare, as this very string.
bool IsPlainSafe(std::string_view text) {
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`<=";
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':' ||
      kIndicators.find(text.front()) != std::string_view::npos ||
      internal::ResolvePlainScalar(text).type != internal::ScalarType::kString) {
    return false;
  }
  // Dates would be quoted by other writers too.
  if (text.size() >= 5 && text[4] == '-' &&
      std::all_of(text.begin(), text.begin() + 4, base::IsDigit)) {
    return false;
  }
  // The last three are characters that YAML takes for line breaks or a byte order mark.
  constexpr std::string_view kBreaks[] = {": ", " #", "\u0085", "\u2028", "\u2029", "\ufeff"};
  return std::ranges::none_of(text, IsControl) &&
         std::ranges::none_of(kBreaks, [text](std::string_view part) {
           return text.find(part) != std::string_view::npos;
         });
}

// A text of lines that survives as a literal block.
bool IsBlockSafe(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == ' ' || text.front() == '\n') {
    return false;
  }
  constexpr std::string_view kBreaks[] = {"\u0085", "\u2028", "\u2029", "\ufeff"};
  return std::ranges::none_of(text, [](char c) { return c != '\n' && IsControl(c); }) &&
         std::ranges::none_of(kBreaks, [text](std::string_view part) {
           return text.find(part) != std::string_view::npos;
         });
}

void AppendDoubleQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view rest = text.substr(i);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (IsControl(c)) {
      out += "\\x";
      base::AppendHex(static_cast<std::uint8_t>(c), out);
    } else if (rest.starts_with("\u0085")) {
      out += "\\u0085";
      i += 1;
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      out += rest[2] == '\xa8' ? "\\L" : "\\P";
      i += 2;
    } else if (rest.starts_with("\ufeff")) {
      out += "\\ufeff";
      i += 2;
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendIndent(int indent, std::string& out) {
  out.append(static_cast<std::size_t>(indent), ' ');
}

void AppendBlock(std::string_view text, int indent, std::string& out) {
  out += '|';
  if (!text.ends_with('\n')) {
    out += '-';
  } else if (text.ends_with("\n\n")) {
    out += '+';
  }
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    out += '\n';
    if (size > 0) {
      AppendIndent(indent, out);
      out += text.substr(0, size);
    }
    text.remove_prefix(std::min(size + 1, text.size()));
  }
}

/// Writes values at an indentation. All input has been checked by the caller.
class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  /// A value behind "key:" or "-" or at the beginning of the document; scalars stay on the line.
  void Value(std::string_view json, int indent, bool in_list);

 private:
  void Object(std::string_view json, int indent, bool on_line);
  void Array(std::string_view json, int indent, bool on_line);
  void Scalar(std::string_view json, int indent);
  void Text(std::string_view text, int indent) {
    if (IsPlainSafe(text)) {
      out_ += text;
    } else if (IsBlockSafe(text)) {
      AppendBlock(text, indent, out_);
    } else {
      AppendDoubleQuoted(text, out_);
    }
  }
  void NewLine(int indent) {
    out_ += '\n';
    AppendIndent(indent, out_);
  }

  std::string& out_;
};

void YamlWriter::Scalar(std::string_view json, int indent) {
  if (json.front() != '"') {
    out_ += json;
    return;
  }
  std::string text;
  internal::AppendUnquoted(json, text);
  Text(text, indent);
}

void YamlWriter::Object(std::string_view json, int indent, bool on_line) {
  std::map<std::string, std::string_view> members;
  internal::ForEachMember(json, [&members](std::string_view key, std::string_view value) {
    members[std::string(key)] = value;
    return true;
  });
  if (members.empty()) {
    out_ += on_line ? "{}" : " {}";
    return;
  }
  for (const auto& [key, value] : members) {
    if (!on_line) {
      NewLine(indent);
    }
    on_line = false;
    if (IsPlainSafe(key)) {
      out_ += key;
    } else {
      AppendDoubleQuoted(key, out_);
    }
    out_ += ':';
    Value(value, indent, false);
  }
}

void YamlWriter::Array(std::string_view json, int indent, bool on_line) {
  bool empty = true;
  internal::ForEachElement(json, [&](std::string_view value) {
    empty = false;
    if (!on_line) {
      NewLine(indent);
    }
    on_line = false;
    out_ += '-';
    Value(value, indent, true);
    return true;
  });
  if (empty) {
    out_ += on_line ? "[]" : " []";
  }
}

void YamlWriter::Value(std::string_view json, int indent, bool in_list) {
  switch (json.front()) {
    case '{':
      if (in_list) {
        out_ += ' ';
      }
      Object(json, indent + 2, in_list);
      break;
    case '[':
      if (in_list) {
        out_ += ' ';
      }
      // Lists stand at the indentation of their key, as kubectl prints them.
      Array(json, in_list ? indent + 2 : indent, in_list);
      break;
    default:
      out_ += ' ';
      Scalar(json, indent + 2);
  }
}

}  // namespace

apimachinery::Result<std::string> JsonToYaml(std::string_view json) {
  std::string compact;
  if (!internal::AppendCompact(json, false, compact)) {
    return apimachinery::Fail(apimachinery::Malformed("", "malformed JSON"));
  }
  std::string out;
  // The outermost value stands as if it were an element, less the dash.
  YamlWriter(out).Value(compact, -2, true);
  out.erase(0, 1);
  out += '\n';
  return out;
}

}  // namespace kubexx::codec
