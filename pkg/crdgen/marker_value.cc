#include "kubexx/crdgen/marker_value.h"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/base/ascii.h"
#include "kubexx/base/utf8.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// Values nest no deeper.
constexpr int kMaxValueDepth = 32;

apimachinery::Error ValueError(std::string message) {
  return Fail(Reason::kInvalid, std::move(message));
}

/// The number that `text` is in JSON.
std::optional<JsonTree> NumberOf(std::string_view text) {
  if (text.empty() || (text[0] != '-' && !base::IsDigit(text[0]))) {
    return std::nullopt;
  }
  auto number = JsonTree::Parse(text);
  if (!number || !number->AsDouble()) {
    return std::nullopt;
  }
  return std::move(*number);
}

/// The character with this number as UTF-8, or nothing if there is none.
std::string Utf8Of(std::uint32_t code) {
  std::string out;
  const auto follow = [&](int shift) {
    out += static_cast<char>(0x80U | ((code >> shift) & 0x3fU));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0U | (code >> 6));
    follow(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0U | (code >> 12));
    follow(6);
    follow(0);
  } else if (code < 0x110000) {
    out += static_cast<char>(0xf0U | (code >> 18));
    follow(12);
    follow(6);
    follow(0);
  }
  return base::ToValidUtf8(out) == out ? out : "";
}

}  // namespace

char MarkerReader::Peek() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
    ++at_;
  }
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool MarkerReader::AtEnd() { return Peek() == '\0'; }

bool MarkerReader::Accept(char symbol) {
  if (Peek() != symbol || at_ == text_.size()) {
    return false;
  }
  ++at_;
  return true;
}

std::string_view MarkerReader::ReadName() {
  Peek();
  const std::size_t begin = at_;
  while (at_ < text_.size() && base::IsAlphanumeric(text_[at_])) {
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

bool MarkerReader::AppendEscape(std::string& out) {
  static constexpr std::string_view kNames = "abfnrtv\\\"'";
  static constexpr std::string_view kCharacters = "\a\b\f\n\r\t\v\\\"'";
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  if (const std::size_t i = kNames.find(c); i != std::string_view::npos) {
    out += kCharacters[i];
    return true;
  }
  const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  std::uint32_t code = 0;
  const std::string_view text = text_.substr(at_, digits);
  if (digits == 0 || text.size() != digits ||
      std::from_chars(text.data(), text.data() + text.size(), code, 16).ptr !=
          text.data() + text.size()) {
    return false;
  }
  at_ += digits;
  const std::string character = c == 'x' && code >= 0x80 ? "" : Utf8Of(code);
  out += character;
  return !character.empty();
}

Result<std::string> MarkerReader::QuotedText(char quote) {
  ++at_;
  std::string out;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == quote) {
      return out;
    }
    if (c != '\\' || quote == '`') {
      out += c;
    } else if (!AppendEscape(out)) {
      return ValueError(
          "after a backslash in quotation marks only what Go has there is understood; write \\\\ "
          "for "
          "a backslash, or put the text in backquotes");
    }
  }
  return ValueError(std::string("the text does not end with ") + quote +
                    " in this line; clang-format does not wrap markers with "
                    "\"CommentPragmas: '^ *\\+'\"");
}

std::string_view MarkerReader::BareText(Bare bare) {
  Peek();
  const std::size_t begin = at_;
  const std::string_view ends = bare == Bare::kKey ? ",;}:" : ",;}";
  while (at_ < text_.size() && !ends.contains(text_[at_])) {
    ++at_;
  }
  std::string_view text = text_.substr(begin, at_ - begin);
  while (text.ends_with(' ') || text.ends_with('\t')) {
    text.remove_suffix(1);
  }
  return text;
}

Result<std::string> MarkerReader::Text(Bare bare) {
  const char next = Peek();
  if (next == '"' || next == '`') {
    return QuotedText(next);
  }
  if (next == '\'') {
    return ValueError("a text is in quotation marks or in backquotes");
  }
  std::string text(BareText(bare));
  if (text.empty()) {
    return ValueError("there is no value");
  }
  return text;
}

Result<JsonTree> MarkerReader::Scalar(MarkerValue type) {
  if (type == MarkerValue::kText) {
    KX_ASSIGN_OR_RETURN(std::string text, Text(Bare::kText));
    return JsonTree(std::move(text));
  }
  const std::string text(BareText(Bare::kText));
  if (type == MarkerValue::kBool) {
    if (text == "true" || text == "false") {
      return JsonTree(text == "true");
    }
    return ValueError("'" + text + "' is neither true nor false");
  }
  auto number = NumberOf(text);
  if (type == MarkerValue::kNumber) {
    return number ? Result<JsonTree>(std::move(*number))
                  : ValueError("'" + text + "' is not a number");
  }
  if (!number || !number->AsInt()) {
    return ValueError("'" + text + "' is not an integer");
  }
  if (type == MarkerValue::kCount && *number->AsInt() < 0) {
    return ValueError("'" + text + "' is negative");
  }
  return std::move(*number);
}

Result<JsonTree> MarkerReader::BracedList(int depth) {
  std::vector<JsonTree> elements;
  while (!Accept('}')) {
    KX_ASSIGN_OR_RETURN(elements.emplace_back(), Any(depth + 1));
    if (Peek() != '}' && !Accept(',')) {
      return ValueError("a list in braces has commas between its elements, and ends with '}'");
    }
  }
  return JsonTree::Array(std::move(elements));
}

Result<JsonTree> MarkerReader::List(MarkerValue element) {
  const auto one = [&] { return element == MarkerValue::kAny ? Any(0) : Scalar(element); };
  if (Accept('{')) {
    KX_ASSIGN_OR_RETURN(JsonTree list, BracedList(0));
    for (const JsonTree& value : list.elements()) {
      if (element == MarkerValue::kText && value.AsString() == nullptr) {
        return ValueError("'" + value.ToJson() + "' is not a text; put it in quotation marks");
      }
    }
    return list;
  }
  std::vector<JsonTree> elements;
  do {
    KX_ASSIGN_OR_RETURN(elements.emplace_back(), one());
  } while (Accept(';'));
  return JsonTree::Array(std::move(elements));
}

bool MarkerReader::IsAtKey() {
  const std::size_t begin = at_;
  const bool is_key = Text(Bare::kKey).has_value() && Accept(':');
  at_ = begin;
  return is_key;
}

Result<JsonTree> MarkerReader::Braces(int depth) {
  if (depth > kMaxValueDepth) {
    return ValueError("the value nests too deeply");
  }
  if (Accept('}')) {
    return JsonTree::Object();
  }
  if (!IsAtKey()) {
    return BracedList(depth);
  }
  JsonTree object = JsonTree::Object();
  while (!Accept('}')) {
    KX_ASSIGN_OR_RETURN(const std::string key, Text(Bare::kKey));
    if (!Accept(':')) {
      return ValueError("'" + key + "' has no ':' and no value after it");
    }
    if (object.Find(key) != nullptr) {
      return ValueError("'" + key + "' is there twice");
    }
    KX_ASSIGN_OR_RETURN(object[key], Any(depth + 1));
    if (Peek() != '}' && !Accept(',')) {
      return ValueError("an object in braces has commas between its members, and ends with '}'");
    }
  }
  return object;
}

Result<JsonTree> MarkerReader::Any(int depth) {
  if (Accept('{')) {
    return Braces(depth);
  }
  const char next = Peek();
  if (next == '"' || next == '`' || next == '\'') {
    return Scalar(MarkerValue::kText);
  }
  const std::string text(BareText(Bare::kText));
  if (text.empty()) {
    return ValueError("there is no value");
  }
  if (text == "true" || text == "false") {
    return JsonTree(text == "true");
  }
  auto number = NumberOf(text);
  return number ? std::move(*number) : JsonTree(text);
}

Result<JsonTree> MarkerReader::Read(MarkerValue type) {
  switch (type) {
    case MarkerValue::kTexts:
      return List(MarkerValue::kText);
    case MarkerValue::kList:
      return List(MarkerValue::kAny);
    case MarkerValue::kAny: {
      KX_ASSIGN_OR_RETURN(JsonTree first, Any(0));
      if (Peek() != ';') {
        return first;
      }
      std::vector<JsonTree> elements;
      elements.push_back(std::move(first));
      while (Accept(';')) {
        KX_ASSIGN_OR_RETURN(elements.emplace_back(), Any(0));
      }
      return JsonTree::Array(std::move(elements));
    }
    case MarkerValue::kJson: {
      auto value = JsonTree::Parse(rest());
      at_ = text_.size();
      return value ? std::move(value)
                   : ValueError("the value is not JSON, in which a text has quotation marks");
    }
    case MarkerValue::kNone:
      return JsonTree();
    default:
      return Scalar(type);
  }
}

}  // namespace kubexx::crdgen
