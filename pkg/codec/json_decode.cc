#include <simdjson.h>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/internal/element_budget.h"
#include "kubexx/codec/internal/field_access.h"
#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/json_scalar.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/json_target.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

namespace od = simdjson::ondemand;
using internal::FieldError;
using internal::MutableAs;

// The text of a scalar, which is not consumed by this.
std::string_view Token(od::value& value) { return internal::TrimJsonSpace(value.raw_json_token()); }

/// Decodes one object tree; holds the error.
class Decoder {
 public:
  explicit Decoder(std::size_t bytes) : elements_(bytes) {}
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

  bool StringList(od::value& json, std::vector<std::string>& out);
  bool Raw(od::value& json, std::string& out);
  bool RawText(od::value& json, std::string_view& text);

  bool Syntax(simdjson::error_code code) { return error_.Set(simdjson::error_message(code)); }

  FieldError error_{};
  internal::ElementBudget elements_;
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
    if (!IsNull(value) && !internal::ReadStringToken(Token(value), text, error_)) {
      return error_.AtIndex(out.size() - 1);
    }
  }
  return true;
}

bool Decoder::Element(const FieldSchema& field, od::value& json, void* value, int depth) {
  switch (field.kind) {
    case Kind::kRawExtension:
      return Raw(json, MutableAs<apimachinery::RawExtension>(value).raw);
    case Kind::kFieldsV1:
      return Raw(json, MutableAs<apimachinery::FieldsV1>(value).raw);
    case Kind::kJsonValue:
      return Raw(json, MutableAs<apimachinery::JsonValue>(value).raw);
    case Kind::kMessage:
      return Message(*field.message, json, value, depth + 1);
    default:
      break;
  }
  if (IsNull(json)) {
    return true;
  }
  if (field.kind == Kind::kStringList) {
    return StringList(json, MutableAs<std::vector<std::string>>(value));
  }
  secret_ = secret_ || field.kind == Kind::kBytes;
  // simdjson has checked the UTF-8 and the control characters of the token.
  return internal::ReadScalarToken(field.kind, Token(json), value, error_);
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

// JSONSchemaPropsOrBool, OrArray and OrStringArray: the JSON type chooses the field. A container in
// a container has no choice.
bool Decoder::Union(const TypeSchema& schema, od::value& json, void* object, int depth) {
  if (schema.json_form == JsonForm::kValue) {
    return Member(schema.fields.front(), json, object, depth);
  }
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
      MutableAs<bool>(member) = true;
      if (type == od::json_type::boolean) {
        handled = true;
        if (!internal::ReadScalarToken(Kind::kBool, Token(json), member, error_)) {
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
    if (field.kind == Kind::kMessage && !elements_.Take()) {
      return error_.Set(internal::kTooManyElements);
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
  if (IsNull(json) && (field.flags & kKeepNull) == 0) {
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
  if (!IsNull(json) && !internal::ReadStringToken(Token(json), text, error_)) {
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
    const internal::Target target = internal::FindTarget(schema, object, name, hint);
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
  Decoder decoder(json.size());
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
