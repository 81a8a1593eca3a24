#include <charconv>

#include "kubexx/codec/base64.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/internal/field_access.h"
#include "kubexx/codec/internal/json_number.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/zero.h"
#include "kubexx/codec/sparse_json.h"

namespace kubexx::codec {
namespace {

using internal::As;

const void* MemberOf(const FieldSchema& field, const void* object) {
  return static_cast<const char*>(object) + field.offset;
}

/// Writes one object tree.
class Writer {
 public:
  explicit Writer(std::string& out, bool sparse = false) : out_(out), sparse_(sparse) {}

  void Root(const TypeSchema& schema, const void* object);
  void Value(const FieldSchema& field, const void* value);

 private:
  void Message(const TypeSchema& schema, const void* object);
  void Fields(const TypeSchema& schema, const void* object, bool& first);
  void Member(const FieldSchema& field, const void* member);
  void List(const FieldSchema& field, const void* member);
  void Map(const FieldSchema& field, const void* member);
  void Element(const FieldSchema& field, const void* value);
  void SchemaOrBool(const TypeSchema& schema, const void* object);
  void SchemaOrArray(const TypeSchema& schema, const void* object);

  void Key(std::string_view name, bool& first) {
    if (!first) {
      out_ += ',';
    }
    first = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }
  void EscapedKey(std::string_view name, bool& first) {
    if (!first) {
      out_ += ',';
    }
    first = false;
    internal::AppendQuoted(name, out_);
    out_ += ':';
  }
  void Integer(auto value) {
    char digits[24];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void Strings(const std::vector<std::string>& items);
  void Plain(std::string_view text) {
    out_ += '"';
    out_ += text;
    out_ += '"';
  }
  // Text that is no JSON (a protobuf object inside a RawExtension, for one) cannot be embedded.
  void Raw(std::string_view raw) {
    if (raw.empty() || !internal::AppendCompact(raw, true, out_)) {
      out_ += "null";
    }
  }

  std::string& out_;
  const bool sparse_;  // leave out all that is zero
};

void Writer::Strings(const std::vector<std::string>& items) {
  out_ += '[';
  for (const std::string& item : items) {
    if (&item != items.data()) {
      out_ += ',';
    }
    internal::AppendQuoted(item, out_);
  }
  out_ += ']';
}

void Writer::Element(const FieldSchema& field, const void* value) {
  switch (field.kind) {
    case Kind::kBool:
      out_ += As<bool>(value) ? "true" : "false";
      break;
    case Kind::kInt32:
      Integer(As<std::int32_t>(value));
      break;
    case Kind::kInt64:
      Integer(As<std::int64_t>(value));
      break;
    case Kind::kUint32:
      Integer(As<std::uint32_t>(value));
      break;
    case Kind::kUint64:
      Integer(As<std::uint64_t>(value));
      break;
    case Kind::kDouble:
      internal::AppendDouble(As<double>(value), out_);
      break;
    case Kind::kString:
      internal::AppendQuoted(As<std::string>(value), out_);
      break;
    case Kind::kBytes:
      out_ += '"';
      AppendBase64(As<apimachinery::Bytes>(value).view(), out_);
      out_ += '"';
      break;
    case Kind::kMessage:
      Message(*field.message, value);
      break;
    case Kind::kStringList:
      Strings(As<std::vector<std::string>>(value));
      break;
    case Kind::kQuantity:
      internal::AppendQuoted(As<apimachinery::Quantity>(value).ToString(), out_);
      break;
    case Kind::kTime:
      As<apimachinery::Time>(value).IsZero() ? void(out_ += "null")
                                             : Plain(As<apimachinery::Time>(value).ToString());
      break;
    case Kind::kMicroTime:
      As<apimachinery::MicroTime>(value).IsZero()
          ? void(out_ += "null")
          : Plain(As<apimachinery::MicroTime>(value).ToString());
      break;
    case Kind::kDateTime:
      As<apimachinery::DateTime>(value).IsZero()
          ? void(out_ += "null")
          : internal::AppendQuoted(As<apimachinery::DateTime>(value).ToString(), out_);
      break;
    case Kind::kDuration:
      Plain(As<apimachinery::Duration>(value).ToString());
      break;
    case Kind::kIntOrString:
      if (const auto* number =
              std::get_if<std::int32_t>(&As<apimachinery::IntOrString>(value).value)) {
        Integer(*number);
      } else {
        internal::AppendQuoted(std::get<std::string>(As<apimachinery::IntOrString>(value).value),
                               out_);
      }
      break;
    case Kind::kRawExtension:
      Raw(As<apimachinery::RawExtension>(value).raw);
      break;
    case Kind::kFieldsV1:
      Raw(As<apimachinery::FieldsV1>(value).raw);
      break;
    case Kind::kJsonValue:
      Raw(As<apimachinery::JsonValue>(value).raw);
      break;
  }
}

void Writer::List(const FieldSchema& field, const void* member) {
  out_ += '[';
  const std::size_t size = field.ops->size(member);
  for (std::size_t i = 0; i < size; ++i) {
    if (i != 0) {
      out_ += ',';
    }
    Element(field, field.ops->at(member, i));
  }
  out_ += ']';
}

void Writer::Map(const FieldSchema& field, const void* member) {
  out_ += '{';
  bool first = true;
  field.ops->for_each(member, [this, &field, &first](const std::string& key, const void* value) {
    EscapedKey(key, first);
    Element(field, value);
  });
  out_ += '}';
}

void Writer::Member(const FieldSchema& field, const void* member) {
  switch (field.cardinality) {
    case Cardinality::kPlain:
      if (field.kind == Kind::kBytes && As<apimachinery::Bytes>(member).empty()) {
        out_ += "null";  // Go's nil slice
      } else {
        Element(field, member);
      }
      break;
    case Cardinality::kOptional:
      field.ops->size(member) == 0 ? void(out_ += "null")
                                   : Element(field, field.ops->at(member, 0));
      break;
    case Cardinality::kRepeated:
      List(field, member);
      break;
    case Cardinality::kMap:
      Map(field, member);
      break;
  }
}

void Writer::Value(const FieldSchema& field, const void* value) {
  field.cardinality == Cardinality::kOptional ? Element(field, value) : Member(field, value);
}

void Writer::Fields(const TypeSchema& schema, const void* object, bool& first) {
  for (const FieldSchema& field : schema.fields) {
    const void* member = MemberOf(field, object);
    if ((field.flags & kInline) != 0) {
      if (field.cardinality == Cardinality::kPlain) {
        Fields(*field.message, member, first);
      } else if (field.ops->size(member) != 0) {
        Fields(*field.message, field.ops->at(member, 0), first);
      }
      continue;
    }
    if (((field.flags & kOmitEmpty) != 0 && internal::IsEmpty(field, member)) ||
        ((sparse_ || (field.flags & kOmitZero) != 0) && internal::IsZero(field, member))) {
      continue;
    }
    (field.flags & kEscapedName) == 0 ? Key(field.name, first) : EscapedKey(field.name, first);
    Member(field, member);
  }
}

void Writer::SchemaOrBool(const TypeSchema& schema, const void* object) {
  bool allows = false;
  for (const FieldSchema& field : schema.fields) {
    const void* member = MemberOf(field, object);
    if (field.kind == Kind::kBool) {
      allows = As<bool>(member);
    } else if (field.ops->size(member) != 0) {
      Element(field, field.ops->at(member, 0));
      return;
    }
  }
  out_ += allows ? "true" : "false";
}

void Writer::SchemaOrArray(const TypeSchema& schema, const void* object) {
  const FieldSchema* single = nullptr;
  for (const FieldSchema& field : schema.fields) {
    if (field.cardinality != Cardinality::kRepeated) {
      single = &field;
    } else if (field.ops->size(MemberOf(field, object)) != 0) {
      List(field, MemberOf(field, object));
      return;
    }
  }
  Member(*single, MemberOf(*single, object));
}

void Writer::Message(const TypeSchema& schema, const void* object) {
  switch (schema.json_form) {
    case JsonForm::kSchemaOrBool:
      SchemaOrBool(schema, object);
      return;
    case JsonForm::kSchemaOrArray:
    case JsonForm::kSchemaOrStringArray:
      SchemaOrArray(schema, object);
      return;
    case JsonForm::kValue:
      Member(schema.fields.front(), object);
      return;
    case JsonForm::kObject:
    case JsonForm::kBareObject:
      break;
  }
  out_ += '{';
  bool first = true;
  Fields(schema, object, first);
  out_ += '}';
}

void Writer::Root(const TypeSchema& schema, const void* object) {
  if (schema.kind.empty() || schema.json_form != JsonForm::kObject) {
    Message(schema, object);
    return;
  }
  out_ += '{';
  bool first = true;
  Key("kind", first);
  Plain(schema.kind);
  Key("apiVersion", first);
  out_ += '"';
  if (!schema.group.empty()) {
    out_ += schema.group;
    out_ += '/';
  }
  out_ += schema.version;
  out_ += '"';
  Fields(schema, object, first);
  out_ += '}';
}

}  // namespace

void EncodeJson(const TypeSchema& schema, const void* object, std::string& out) {
  Writer(out).Root(schema, object);
}

void EncodeSparseJson(const FieldSchema& field, const void* value, std::string& out) {
  Writer(out, true).Value(field, value);
}

}  // namespace kubexx::codec
