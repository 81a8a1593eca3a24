#include <algorithm>
#include <bit>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/internal/back_buffer.h"

// Messages are written back to front: fields by descending tag, elements from last to first, and
// each length behind (in time) the bytes that it counts.

namespace kubexx::codec {
namespace {

using internal::BackBuffer;
using internal::WireType;

template <class E>
const E& ConstAs(const void* value) {
  return *static_cast<const E*>(value);
}

void EncodeMessage(const TypeSchema& schema, const void* object, BackBuffer& out);

void EncodeVarintField(std::uint32_t tag, std::uint64_t value, BackBuffer& out) {
  out.Varint(value);
  out.PutTag(tag, WireType::kVarint);
}

void EncodeBytesField(std::uint32_t tag, std::string_view bytes, BackBuffer& out) {
  out.Bytes(bytes);
  out.Varint(bytes.size());
  out.PutTag(tag, WireType::kBytes);
}

// An unset []byte has no field of its own.
void EncodeRawBody(std::string_view raw, BackBuffer& out) {
  if (!raw.empty()) {
    EncodeBytesField(1, raw, out);
  }
}

void EncodeTimeBody(std::int64_t seconds, std::int32_t nanos, BackBuffer& out) {
  EncodeVarintField(2, static_cast<std::uint64_t>(nanos), out);
  EncodeVarintField(1, static_cast<std::uint64_t>(seconds), out);
}

void EncodeIntOrStringBody(const apimachinery::IntOrString& value, BackBuffer& out) {
  const auto* number = std::get_if<std::int32_t>(&value.value);
  const auto* text = std::get_if<std::string>(&value.value);
  EncodeBytesField(3, text != nullptr ? std::string_view(*text) : std::string_view(), out);
  EncodeVarintField(2, number != nullptr ? static_cast<std::uint64_t>(*number) : 0, out);
  EncodeVarintField(1, text != nullptr ? 1 : 0, out);
}

// The inside of those kinds that are messages on the wire.
void EncodeMessageBody(const FieldSchema& field, const void* value, BackBuffer& out) {
  switch (field.kind) {
    case Kind::kMessage:
      EncodeMessage(*field.message, value, out);
      break;
    case Kind::kStringList: {
      const auto& items = ConstAs<std::vector<std::string>>(value);
      for (std::size_t i = items.size(); i-- > 0;) {
        EncodeBytesField(1, items[i], out);
      }
      break;
    }
    case Kind::kQuantity:
      EncodeBytesField(1, ConstAs<apimachinery::Quantity>(value).ToString(), out);
      break;
    case Kind::kTime:
      if (const auto& time = ConstAs<apimachinery::Time>(value); !time.IsZero()) {
        EncodeTimeBody(time.seconds, 0, out);
      }
      break;
    case Kind::kMicroTime:
      if (const auto& time = ConstAs<apimachinery::MicroTime>(value); !time.IsZero()) {
        EncodeTimeBody(time.seconds, time.nanos / 1000 * 1000, out);
      }
      break;
    case Kind::kDateTime:
      EncodeBytesField(1, ConstAs<apimachinery::DateTime>(value).ToString(), out);
      break;
    case Kind::kDuration:
      EncodeVarintField(1, static_cast<std::uint64_t>(ConstAs<apimachinery::Duration>(value).nanos),
                        out);
      break;
    case Kind::kIntOrString:
      EncodeIntOrStringBody(ConstAs<apimachinery::IntOrString>(value), out);
      break;
    case Kind::kRawExtension:
      EncodeRawBody(ConstAs<apimachinery::RawExtension>(value).raw, out);
      break;
    case Kind::kFieldsV1:
      EncodeRawBody(ConstAs<apimachinery::FieldsV1>(value).raw, out);
      break;
    case Kind::kJsonValue:
      EncodeRawBody(ConstAs<apimachinery::JsonValue>(value).raw, out);
      break;
    default:
      break;  // scalars, handled by the caller
  }
}

// One element with its tag, which is the field's own or that of a map entry's value.
void EncodeElement(const FieldSchema& field, std::uint32_t tag, const void* value,
                   BackBuffer& out) {
  switch (field.kind) {
    case Kind::kBool:
      EncodeVarintField(tag, ConstAs<bool>(value) ? 1 : 0, out);
      break;
    case Kind::kInt32:
      // Sign-extended: a negative one takes ten bytes.
      EncodeVarintField(tag, static_cast<std::uint64_t>(std::int64_t{ConstAs<std::int32_t>(value)}),
                        out);
      break;
    case Kind::kInt64:
      EncodeVarintField(tag, static_cast<std::uint64_t>(ConstAs<std::int64_t>(value)), out);
      break;
    case Kind::kUint32:
      EncodeVarintField(tag, ConstAs<std::uint32_t>(value), out);
      break;
    case Kind::kUint64:
      EncodeVarintField(tag, ConstAs<std::uint64_t>(value), out);
      break;
    case Kind::kDouble:
      out.Fixed64(std::bit_cast<std::uint64_t>(ConstAs<double>(value)));
      out.PutTag(tag, WireType::kFixed64);
      break;
    case Kind::kString:
      EncodeBytesField(tag, ConstAs<std::string>(value), out);
      break;
    case Kind::kBytes:
      out.MarkSecret();
      EncodeBytesField(tag, ConstAs<apimachinery::Bytes>(value).view(), out);
      break;
    default: {
      const std::size_t mark = out.size();
      EncodeMessageBody(field, value, out);
      out.CloseMessage(tag, mark);
    }
  }
}

void EncodeMap(const FieldSchema& field, const void* member, BackBuffer& out) {
  field.ops->for_each_reverse(member, [&field, &out](const std::string& key, const void* value) {
    const std::size_t mark = out.size();
    EncodeElement(field, 2, value, out);
    EncodeBytesField(1, key, out);
    out.CloseMessage(field.tag, mark);
  });
}

void EncodeField(const FieldSchema& field, const void* member, BackBuffer& out) {
  switch (field.cardinality) {
    case Cardinality::kPlain:
      if (field.kind != Kind::kBytes || !ConstAs<apimachinery::Bytes>(member).empty()) {
        EncodeElement(field, field.tag, member, out);
      }
      break;
    case Cardinality::kOptional:
      if (field.ops->size(member) != 0) {
        EncodeElement(field, field.tag, field.ops->at(member, 0), out);
      }
      break;
    case Cardinality::kRepeated:
      for (std::size_t i = field.ops->size(member); i-- > 0;) {
        EncodeElement(field, field.tag, field.ops->at(member, i), out);
      }
      break;
    case Cardinality::kMap:
      EncodeMap(field, member, out);
      break;
  }
}

void EncodeMessage(const TypeSchema& schema, const void* object, BackBuffer& out) {
  for (std::size_t i = schema.fields.size(); i-- > 0;) {
    const FieldSchema& field = schema.fields[i];
    if (field.tag != 0) {
      EncodeField(field, static_cast<const char*>(object) + field.offset, out);
    }
  }
}

}  // namespace

bool HasProtobuf(const TypeSchema& schema) {
  return std::ranges::any_of(schema.fields,
                             [](const FieldSchema& field) { return field.tag != 0; });
}

void EncodeProtobuf(const TypeSchema& schema, const void* object, std::string& out) {
  BackBuffer buffer;
  EncodeMessage(schema, object, buffer);
  out += buffer.view();
}

}  // namespace kubexx::codec
