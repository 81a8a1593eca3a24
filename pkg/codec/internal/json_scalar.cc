#include "kubexx/codec/internal/json_scalar.h"

#include <charconv>
#include <string>
#include <utility>

#include "kubexx/codec/base64.h"
#include "kubexx/codec/internal/field_access.h"
#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec::internal {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

template <class I>
bool ReadInteger(std::string_view token, I& out, FieldError& error) {
  const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), out);
  if (code == std::errc::result_out_of_range) {
    return error.Set("integer out of range");
  }
  const bool whole = code == std::errc() && end == token.data() + token.size() && IsNumber(token);
  return whole || error.Set("expected an integer");
}

bool ReadBool(std::string_view token, bool& out, FieldError& error) {
  out = token == "true";
  return out || token == "false" || error.Set("expected true or false");
}

bool ReadDouble(std::string_view token, double& out, FieldError& error) {
  if (!IsNumber(token)) {
    return error.Set("expected a number");
  }
  const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), out);
  return code == std::errc() || error.Set("number out of range");
}

bool ReadBytes(std::string_view token, apimachinery::Bytes& out, FieldError& error) {
  std::string text;
  if (!ReadStringToken(token, text, error)) {
    return false;
  }
  std::string bytes;
  const bool ok = DecodeBase64(text, bytes);
  apimachinery::Wipe(text);
  out = apimachinery::Bytes(std::move(bytes));
  return ok || error.Set("not base64");
}

bool ReadQuantity(std::string_view token, apimachinery::Quantity& out, FieldError& error) {
  std::string text;
  if (IsNumber(token)) {
    text = token;
  } else if (!ReadStringToken(token, text, error)) {
    return false;
  }
  auto quantity = apimachinery::Quantity::Parse(TrimJsonSpace(text));
  if (!quantity) {
    return error.Set(quantity.error().message);
  }
  out = std::move(*quantity);
  return true;
}

bool ReadIntOrString(std::string_view token, apimachinery::IntOrString& out, FieldError& error) {
  if (token.starts_with('"')) {
    return ReadStringToken(token, out.value.emplace<std::string>(), error);
  }
  return ReadInteger(token, out.value.emplace<std::int32_t>(), error) ||
         error.Set("expected a 32-bit integer or a string");
}

// Times and durations: a string with a grammar of its own.
template <class V>
bool ReadParsed(std::string_view token, V& out, FieldError& error) {
  std::string text;
  if (!ReadStringToken(token, text, error)) {
    return false;
  }
  auto value = V::Parse(text);
  if (!value) {
    return error.Set(value.error().message);
  }
  out = *value;
  return true;
}

bool ReadDateTime(std::string_view token, apimachinery::DateTime& out, FieldError& error) {
  std::string text;
  if (!ReadStringToken(token, text, error)) {
    return false;
  }
  out = apimachinery::DateTime::FromText(std::move(text));
  return true;
}

}  // namespace

std::string_view TrimJsonSpace(std::string_view text) {
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
  }
  return text;
}

bool ReadStringToken(std::string_view token, std::string& out, FieldError& error) {
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') {
    return error.Set("expected a string");
  }
  if (token.find('\\') == std::string_view::npos) {
    out.assign(token.substr(1, token.size() - 2));
    return true;
  }
  const char* const end = token.data() + token.size();
  if (ScanString(token.data(), end) != end) {
    return error.Set("bad escape in string");
  }
  out.clear();
  AppendUnquoted(token, out);
  return true;
}

bool ReadScalarToken(Kind kind, std::string_view token, void* value, FieldError& error) {
  switch (kind) {
    case Kind::kBool:
      return ReadBool(token, MutableAs<bool>(value), error);
    case Kind::kInt32:
      return ReadInteger(token, MutableAs<std::int32_t>(value), error);
    case Kind::kInt64:
      return ReadInteger(token, MutableAs<std::int64_t>(value), error);
    case Kind::kUint32:
      return ReadInteger(token, MutableAs<std::uint32_t>(value), error);
    case Kind::kUint64:
      return ReadInteger(token, MutableAs<std::uint64_t>(value), error);
    case Kind::kDouble:
      return ReadDouble(token, MutableAs<double>(value), error);
    case Kind::kString:
      return ReadStringToken(token, MutableAs<std::string>(value), error);
    case Kind::kBytes:
      return ReadBytes(token, MutableAs<apimachinery::Bytes>(value), error);
    case Kind::kQuantity:
      return ReadQuantity(token, MutableAs<apimachinery::Quantity>(value), error);
    case Kind::kTime:
      return ReadParsed(token, MutableAs<apimachinery::Time>(value), error);
    case Kind::kMicroTime:
      return ReadParsed(token, MutableAs<apimachinery::MicroTime>(value), error);
    case Kind::kDateTime:
      return ReadDateTime(token, MutableAs<apimachinery::DateTime>(value), error);
    case Kind::kDuration:
      return ReadParsed(token, MutableAs<apimachinery::Duration>(value), error);
    default:
      return ReadIntOrString(token, MutableAs<apimachinery::IntOrString>(value), error);
  }
}

}  // namespace kubexx::codec::internal
