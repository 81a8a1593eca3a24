#include <simdjson.h>

#include <charconv>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/internal/base64.h"
#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

namespace od = simdjson::ondemand;
using internal::FieldError;

template <class E>
E& As(void* value) {
  return *static_cast<E*>(value);
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
  }
  return text;
}

// The text of a scalar, which is not consumed by this.
std::string_view Token(od::value& value) { return Trim(value.raw_json_token()); }

/// Where a JSON name leads: a field of the object or of a message that is inlined into it.
struct Target {
  const FieldSchema* field = nullptr;
  void* member = nullptr;
};

Target FindTarget(const TypeSchema& schema, void* object, std::string_view name,
                  std::size_t& hint) {
  const std::size_t count = schema.fields.size();
  bool has_inline = false;
  // Names arrive mostly in the order of the table: begin behind the one that was found last.
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = hint + i < count ? hint + i : hint + i - count;
    const FieldSchema& field = schema.fields[at];
    if ((field.flags & kInline) != 0) {
      has_inline = true;
    } else if (field.name == name) {
      hint = at + 1 < count ? at + 1 : 0;
      return {&field, static_cast<char*>(object) + field.offset};
    }
  }
  for (std::size_t i = 0; has_inline && i < count; ++i) {
    const FieldSchema& field = schema.fields[i];
    if ((field.flags & kInline) == 0) {
      continue;
    }
    void* member = static_cast<char*>(object) + field.offset;
    std::size_t inner_hint = 0;
    if (field.cardinality == Cardinality::kPlain) {
      if (const Target found = FindTarget(*field.message, member, name, inner_hint);
          found.field != nullptr) {
        return found;
      }
    } else if (field.ops->size(member) != 0) {
      if (const Target found = FindTarget(
              *field.message, const_cast<void*>(field.ops->at(member, 0)), name, inner_hint);
          found.field != nullptr) {
        return found;
      }
    } else {
      void* created = field.ops->append(member);
      if (const Target found = FindTarget(*field.message, created, name, inner_hint);
          found.field != nullptr) {
        return found;
      }
      field.ops->clear(member);
    }
  }
  return {};
}

/// Decodes one object tree; holds the error.
class Decoder {
 public:
  bool Root(const TypeSchema& schema, od::document& document, void* object);
  apimachinery::Status ToStatus() const { return error_.ToStatus(); }
  /// Whether a []byte was among the fields.
  bool secret() const { return secret_; }

 private:
  bool Fields(const TypeSchema& schema, od::object json, void* object, int depth, bool root);
  bool CheckTypeMeta(const TypeSchema& schema, std::string_view name, od::value& json);
  bool Member(const FieldSchema& field, od::value& json, void* member, int depth);
  bool List(const FieldSchema& field, od::value& json, void* member, int depth);
  bool Map(const FieldSchema& field, od::value& json, void* member, int depth);
  bool Element(const FieldSchema& field, od::value& json, void* value, int depth);
  bool Message(const TypeSchema& schema, od::value& json, void* object, int depth);
  bool Union(const TypeSchema& schema, od::value& json, void* object, int depth);
  bool Skip(od::value& json);

  bool Bool(od::value& json, bool& out);
  bool Double(od::value& json, double& out);
  bool String(od::value& json, std::string& out);
  bool Bytes(od::value& json, apimachinery::Bytes& out);
  bool StringList(od::value& json, std::vector<std::string>& out);
  bool Quantity(od::value& json, apimachinery::Quantity& out);
  bool IntOrString(od::value& json, apimachinery::IntOrString& out);
  bool Raw(od::value& json, std::string& out);
  bool RawText(od::value& json, std::string_view& text);

  template <class I>
  bool Integer(od::value& json, I& out) {
    const std::string_view token = Token(json);
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), out);
    if (error == std::errc::result_out_of_range) {
      return error_.Set("integer out of range");
    }
    if (error != std::errc() || end != token.data() + token.size() || !internal::IsNumber(token)) {
      return error_.Set("expected an integer");
    }
    return true;
  }

  template <class V>
  bool Parsed(od::value& json, V& out) {
    std::string text;
    if (!String(json, text)) {
      return false;
    }
    auto value = V::Parse(text);
    if (!value) {
      return error_.Set(value.error().message);
    }
    out = *value;
    return true;
  }

  bool Syntax(simdjson::error_code code) { return error_.Set(simdjson::error_message(code)); }

  FieldError error_{};
  bool secret_ = false;
};

bool IsNull(od::value& json) { return Token(json) == "null"; }

bool Decoder::RawText(od::value& json, std::string_view& text) {
  od::json_type type{};
  if (const auto code = json.type().get(type)) {
    return Syntax(code);
  }
  if (type != od::json_type::object && type != od::json_type::array) {
    text = Token(json);
    return true;
  }
  if (type == od::json_type::object) {
    od::object object;
    const auto code = json.get_object().get(object);
    const auto raw_code = code ? code : object.raw_json().get(text);
    return !raw_code || Syntax(raw_code);
  }
  od::array array;
  const auto code = json.get_array().get(array);
  const auto raw_code = code ? code : array.raw_json().get(text);
  return !raw_code || Syntax(raw_code);
}

bool Decoder::Raw(od::value& json, std::string& out) {
  std::string_view text;
  if (!RawText(json, text)) {
    return false;
  }
  out.clear();
  if (text == "null") {
    return true;
  }
  return internal::AppendCompact(text, false, out) || error_.Set("malformed JSON value");
}

// simdjson passes over values without checking all of their grammar.
bool Decoder::Skip(od::value& json) {
  std::string_view text;
  return RawText(json, text) && (internal::IsJson(text) || error_.Set("malformed JSON value"));
}

bool Decoder::Bool(od::value& json, bool& out) {
  const std::string_view token = Token(json);
  out = token == "true";
  return out || token == "false" || error_.Set("expected true or false");
}

bool Decoder::Double(od::value& json, double& out) {
  const std::string_view token = Token(json);
  if (!internal::IsNumber(token)) {
    return error_.Set("expected a number");
  }
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), out);
  return error == std::errc() || error_.Set("number out of range");
}

// simdjson has checked UTF-8 and control characters; only escapes need more than a copy.
bool Decoder::String(od::value& json, std::string& out) {
  const std::string_view token = Token(json);
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') {
    return error_.Set("expected a string");
  }
  if (token.find('\\') == std::string_view::npos) {
    out.assign(token.substr(1, token.size() - 2));
    return true;
  }
  const char* const end = token.data() + token.size();
  if (internal::ScanString(token.data(), end) != end) {
    return error_.Set("bad escape in string");
  }
  out.clear();
  internal::AppendUnquoted(token, out);
  return true;
}

bool Decoder::Bytes(od::value& json, apimachinery::Bytes& out) {
  secret_ = true;
  std::string text;
  if (!String(json, text)) {
    return false;
  }
  std::string bytes;
  const bool ok = internal::DecodeBase64(text, bytes);
  apimachinery::Wipe(text);
  out = apimachinery::Bytes(std::move(bytes));
  return ok || error_.Set("not base64");
}

bool Decoder::StringList(od::value& json, std::vector<std::string>& out) {
  out.clear();
  od::array array;
  if (const auto code = json.get_array().get(array)) {
    return code == simdjson::INCORRECT_TYPE ? error_.Set("expected an array") : Syntax(code);
  }
  for (auto item : array) {
    od::value value;
    if (const auto code = std::move(item).get(value)) {
      return Syntax(code);
    }
    std::string& text = out.emplace_back();
    if (!IsNull(value) && !String(value, text)) {
      return error_.AtIndex(out.size() - 1);
    }
  }
  return true;
}

bool Decoder::Quantity(od::value& json, apimachinery::Quantity& out) {
  std::string text;
  const std::string_view token = Token(json);
  if (internal::IsNumber(token)) {
    text = token;
  } else if (!String(json, text)) {
    return false;
  }
  auto quantity = apimachinery::Quantity::Parse(Trim(text));
  if (!quantity) {
    return error_.Set(quantity.error().message);
  }
  out = std::move(*quantity);
  return true;
}

bool Decoder::IntOrString(od::value& json, apimachinery::IntOrString& out) {
  if (Token(json).starts_with('"')) {
    return String(json, out.value.emplace<std::string>());
  }
  return Integer(json, out.value.emplace<std::int32_t>()) ||
         error_.Set("expected a 32-bit integer or a string");
}

bool Decoder::Element(const FieldSchema& field, od::value& json, void* value, int depth) {
  switch (field.kind) {
    case Kind::kRawExtension:
      return Raw(json, As<apimachinery::RawExtension>(value).raw);
    case Kind::kFieldsV1:
      return Raw(json, As<apimachinery::FieldsV1>(value).raw);
    case Kind::kJsonValue:
      return Raw(json, As<apimachinery::JsonValue>(value).raw);
    case Kind::kMessage:
      return Message(*field.message, json, value, depth + 1);
    default:
      break;
  }
  if (IsNull(json)) {
    return true;
  }
  switch (field.kind) {
    case Kind::kBool:
      return Bool(json, As<bool>(value));
    case Kind::kInt32:
      return Integer(json, As<std::int32_t>(value));
    case Kind::kInt64:
      return Integer(json, As<std::int64_t>(value));
    case Kind::kUint32:
      return Integer(json, As<std::uint32_t>(value));
    case Kind::kUint64:
      return Integer(json, As<std::uint64_t>(value));
    case Kind::kDouble:
      return Double(json, As<double>(value));
    case Kind::kString:
      return String(json, As<std::string>(value));
    case Kind::kBytes:
      return Bytes(json, As<apimachinery::Bytes>(value));
    case Kind::kStringList:
      return StringList(json, As<std::vector<std::string>>(value));
    case Kind::kQuantity:
      return Quantity(json, As<apimachinery::Quantity>(value));
    case Kind::kTime:
      return Parsed(json, As<apimachinery::Time>(value));
    case Kind::kMicroTime:
      return Parsed(json, As<apimachinery::MicroTime>(value));
    case Kind::kDuration:
      return Parsed(json, As<apimachinery::Duration>(value));
    default:
      return IntOrString(json, As<apimachinery::IntOrString>(value));
  }
}

bool Decoder::Message(const TypeSchema& schema, od::value& json, void* object, int depth) {
  if (depth > internal::kMaxDepth) {
    return error_.Set("nested too deeply");
  }
  if (schema.json_form != JsonForm::kObject && schema.json_form != JsonForm::kBareObject) {
    return Union(schema, json, object, depth);
  }
  if (IsNull(json)) {
    return true;
  }
  od::object inner;
  if (const auto code = json.get_object().get(inner)) {
    return code == simdjson::INCORRECT_TYPE ? error_.Set("expected an object") : Syntax(code);
  }
  return Fields(schema, inner, object, depth, false);
}

// JSONSchemaPropsOrBool, OrArray and OrStringArray: the JSON type chooses the field.
bool Decoder::Union(const TypeSchema& schema, od::value& json, void* object, int depth) {
  od::json_type type{};
  if (const auto code = json.type().get(type)) {
    return Syntax(code);
  }
  const bool allows_null = schema.json_form != JsonForm::kSchemaOrBool;
  if (allows_null && IsNull(json)) {
    return true;
  }
  bool handled = false;
  for (const FieldSchema& field : schema.fields) {
    void* member = static_cast<char*>(object) + field.offset;
    if (field.cardinality == Cardinality::kRepeated) {
      field.ops->clear(member);
      if (type == od::json_type::array) {
        handled = true;
        if (!List(field, json, member, depth)) {
          return false;
        }
      }
    } else if (field.kind == Kind::kBool) {
      As<bool>(member) = true;
      if (type == od::json_type::boolean) {
        handled = true;
        if (!Bool(json, As<bool>(member))) {
          return false;
        }
      }
    } else {
      field.ops->clear(member);
      if (type == od::json_type::object) {
        handled = true;
        if (!Element(field, json, field.ops->append(member), depth)) {
          return false;
        }
      }
    }
  }
  return handled || error_.Set("expected a JSON schema or its short form");
}

bool Decoder::List(const FieldSchema& field, od::value& json, void* member, int depth) {
  od::array array;
  if (const auto code = json.get_array().get(array)) {
    return code == simdjson::INCORRECT_TYPE ? error_.Set("expected an array") : Syntax(code);
  }
  std::size_t index = 0;
  for (auto item : array) {
    od::value value;
    if (const auto code = std::move(item).get(value)) {
      return Syntax(code);
    }
    if (!Element(field, value, field.ops->append(member), depth)) {
      return error_.AtIndex(index);
    }
    ++index;
  }
  return true;
}

bool Decoder::Map(const FieldSchema& field, od::value& json, void* member, int depth) {
  od::object object;
  if (const auto code = json.get_object().get(object)) {
    return code == simdjson::INCORRECT_TYPE ? error_.Set("expected an object") : Syntax(code);
  }
  for (auto entry : object) {
    std::string_view key;
    od::value value;
    if (const auto code = entry.unescaped_key().get(key)) {
      return Syntax(code);
    }
    if (const auto code = entry.value().get(value)) {
      return Syntax(code);
    }
    if (!Element(field, value, field.ops->slot(member, std::string(key)), depth)) {
      return error_.AtKey(key);
    }
  }
  return true;
}

bool Decoder::Member(const FieldSchema& field, od::value& json, void* member, int depth) {
  if (field.cardinality == Cardinality::kPlain) {
    return Element(field, json, member, depth);
  }
  field.ops->clear(member);
  if (IsNull(json)) {
    return true;
  }
  switch (field.cardinality) {
    case Cardinality::kOptional:
      return Element(field, json, field.ops->append(member), depth);
    case Cardinality::kRepeated:
      return List(field, json, member, depth);
    default:
      return Map(field, json, member, depth);
  }
}

bool Decoder::CheckTypeMeta(const TypeSchema& schema, std::string_view name, od::value& json) {
  std::string text;
  if (!IsNull(json) && !String(json, text)) {
    return error_.AtField(name);
  }
  std::string expected(schema.kind);
  if (name == "apiVersion") {
    expected = schema.group.empty() ? std::string() : std::string(schema.group) + "/";
    expected += schema.version;
  }
  if (!text.empty() && text != expected) {
    error_.Set("expected \"" + expected + "\"");
    return error_.AtField(name);
  }
  return true;
}

bool Decoder::Fields(const TypeSchema& schema, od::object json, void* object, int depth,
                     bool root) {
  std::size_t hint = 0;
  for (auto entry : json) {
    std::string_view name;
    od::value value;
    if (const auto code = entry.unescaped_key().get(name)) {
      return Syntax(code);
    }
    if (const auto code = entry.value().get(value)) {
      return Syntax(code);
    }
    if (root && (name == "kind" || name == "apiVersion")) {
      if (!CheckTypeMeta(schema, name, value)) {
        return false;
      }
      continue;
    }
    const Target target = FindTarget(schema, object, name, hint);
    if (target.field == nullptr) {
      if (!Skip(value)) {
        return error_.AtKey(name);
      }
    } else if (!Member(*target.field, value, target.member, depth)) {
      return error_.AtField(target.field->name);
    }
  }
  return true;
}

bool Decoder::Root(const TypeSchema& schema, od::document& document, void* object) {
  od::object json;
  if (const auto code = document.get_object().get(json)) {
    return code == simdjson::INCORRECT_TYPE ? error_.Set("expected an object") : Syntax(code);
  }
  if (!Fields(schema, json, object, 1,
              !schema.kind.empty() && schema.json_form == JsonForm::kObject)) {
    return false;
  }
  // No location is left once everything has been read.
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS ||
         error_.Set("text behind the object");
}

}  // namespace

apimachinery::Result<void> DecodeJson(const TypeSchema& schema, std::string_view json,
                                      void* object) {
  std::string padded;
  padded.reserve(json.size() + simdjson::SIMDJSON_PADDING);
  padded = json;
  padded.resize(json.size() + simdjson::SIMDJSON_PADDING);
  od::parser parser;
  od::document document;
  Decoder decoder;
  bool ok = false;
  const auto code = parser.iterate(padded.data(), json.size(), padded.size()).get(document);
  if (!code) {
    ok = decoder.Root(schema, document, object);
  }
  if (decoder.secret()) {
    apimachinery::Wipe(padded);
  }
  if (code) {
    return apimachinery::Fail(apimachinery::Malformed("", simdjson::error_message(code)));
  }
  if (!ok) {
    return apimachinery::Fail(decoder.ToStatus());
  }
  return {};
}

}  // namespace kubexx::codec
