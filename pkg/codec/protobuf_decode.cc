#include <bit>
#include <optional>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/internal/element_budget.h"
#include "kubexx/codec/internal/field_access.h"
#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/protobuf_field.h"
#include "kubexx/codec/internal/protobuf_value.h"
#include "kubexx/codec/internal/wire.h"
#include "kubexx/codec/protobuf_fields.h"

namespace kubexx::codec {
namespace {

using internal::FieldError;
using internal::FindField;
using internal::kBadLength;
using internal::kBadTag;
using internal::kBadUnknown;
using internal::kWrongType;
using internal::MutableAs;
using internal::StoreVarint;
using internal::Tag;
using internal::WireReader;
using internal::WireType;
using internal::WireTypeOf;

// Room is made at once for this many elements of a list that is really there.
constexpr std::size_t kMaxReserve = 1024;

// Most strings on the wire are empty, because Go's value fields are always written.
void Assign(std::string& text, std::string_view bytes) {
  if (!bytes.empty() || !text.empty()) {
    text.assign(bytes);
  }
}

/// Decodes one message tree; holds the error.
class ProtobufDecoder {
 public:
  explicit ProtobufDecoder(std::size_t bytes) : elements_(bytes) {}
  bool Message(const TypeSchema& schema, std::string_view bytes, void* object, int depth);
  /// Only the field at the end of `path`, as Message does it.
  bool OneField(FieldPath path, std::string_view bytes, void* member);
  apimachinery::Status ToStatus() const { return error_.ToStatus(); }

 private:
  bool NumberField(const FieldSchema& field, WireType type, std::uint64_t number, void* member);
  bool BytesField(const FieldSchema& field, std::string_view bytes, void* member, int depth);
  bool Number(const FieldSchema& field, WireType type, std::uint64_t number, void* value);
  bool Bytes(const FieldSchema& field, std::string_view bytes, void* value, int depth);
  bool Packed(const FieldSchema& field, std::string_view bytes, void* member);
  bool MapEntry(const FieldSchema& field, std::string_view bytes, void* member, int depth);
  /// A value that is no bytes.
  bool ReadNumber(WireType type, WireReader& in, std::uint64_t& number) {
    return internal::ReadNumber(type, in, number, error_);
  }

  FieldError error_{};
  internal::ElementBudget elements_;
};

// Most of the time of a decoding is in this loop. What it calls is given values, never the reader,
// which stays in registers then.
bool ProtobufDecoder::Message(const TypeSchema& schema, std::string_view bytes, void* object,
                              int depth) {
  if (depth > internal::kMaxDepth) {
    return error_.Set("nested too deeply");
  }
  std::size_t next = 0;
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return error_.Set(kBadTag);
    }
    const FieldSchema* const field = FindField(schema.fields, tag.number, next);
    if (field == nullptr) {
      if (!in.Skip(tag.type)) {
        return error_.Set(kBadUnknown);
      }
      continue;
    }
    void* const member = static_cast<char*>(object) + field->offset;
    bool ok = false;
    if (tag.type == WireType::kBytes) {
      const WireReader rest = in;
      std::string_view value;
      if (!in.Bytes(value)) {
        error_.Set(kBadLength);
      } else if (field->kind == Kind::kString && field->cardinality == Cardinality::kPlain) {
        // Two thirds of all fields.
        Assign(MutableAs<std::string>(member), value);
        ok = true;
      } else {
        if (field->cardinality == Cardinality::kRepeated && field->ops->size(member) == 0) {
          field->ops->reserve(member, internal::CountRun(rest, tag.number, kMaxReserve));
        }
        ok = BytesField(*field, value, member, depth);
      }
    } else {
      std::uint64_t number = 0;
      if (ReadNumber(tag.type, in, number)) {
        ok = NumberField(*field, tag.type, number, member);
      }
    }
    if (!ok) {
      return error_.AtField(field->name);
    }
  }
  return true;
}

bool ProtobufDecoder::OneField(FieldPath path, std::string_view bytes, void* member) {
  const FieldSchema& field = *path.back();
  return internal::ForEachOccurrence(path, bytes, error_, [&](const internal::Occurrence& found) {
    if (found.type != WireType::kBytes) {
      return NumberField(field, found.type, found.number, member);
    }
    if (field.cardinality == Cardinality::kRepeated && field.ops->size(member) == 0) {
      field.ops->reserve(member, internal::CountRun(found.rest, field.tag, kMaxReserve));
    }
    return BytesField(field, found.bytes, member, found.depth);
  });
}

bool ProtobufDecoder::NumberField(const FieldSchema& field, WireType type, std::uint64_t number,
                                  void* member) {
  switch (field.cardinality) {
    case Cardinality::kPlain:
      return Number(field, type, number, member);
    case Cardinality::kOptional:
      return Number(field, type, number, field.ops->append(member));
    case Cardinality::kRepeated:
      return Number(field, type, number, field.ops->append(member)) ||
             error_.AtIndex(field.ops->size(member) - 1);
    case Cardinality::kMap:
      return error_.Set(kWrongType);
  }
  return true;
}

bool ProtobufDecoder::BytesField(const FieldSchema& field, std::string_view bytes, void* member,
                                 int depth) {
  switch (field.cardinality) {
    case Cardinality::kPlain:
      return Bytes(field, bytes, member, depth);
    case Cardinality::kOptional: {
      // A second occurrence of a message adds to the first.
      const bool merge = field.kind == Kind::kMessage && field.ops->size(member) != 0;
      void* value = merge ? const_cast<void*>(field.ops->at(member, 0)) : field.ops->append(member);
      return Bytes(field, bytes, value, depth);
    }
    case Cardinality::kRepeated:
      if (WireTypeOf(field.kind) != WireType::kBytes) {
        return Packed(field, bytes, member);
      }
      if (field.kind == Kind::kMessage && !elements_.Take()) {
        return error_.Set(internal::kTooManyElements);
      }
      return Bytes(field, bytes, field.ops->append(member), depth) ||
             error_.AtIndex(field.ops->size(member) - 1);
    case Cardinality::kMap:
      return MapEntry(field, bytes, member, depth);
  }
  return true;
}

bool ProtobufDecoder::Number(const FieldSchema& field, WireType type, std::uint64_t number,
                             void* value) {
  if (type != WireTypeOf(field.kind)) {
    return error_.Set(kWrongType);
  }
  if (type == WireType::kFixed64) {
    MutableAs<double>(value) = std::bit_cast<double>(number);
  } else {
    StoreVarint(field.kind, number, value);
  }
  return true;
}

bool ProtobufDecoder::Bytes(const FieldSchema& field, std::string_view bytes, void* value,
                            int depth) {
  if (field.kind == Kind::kString) {
    Assign(MutableAs<std::string>(value), bytes);
    return true;
  }
  if (field.kind == Kind::kMessage) {
    return Message(*field.message, bytes, value, depth + 1);
  }
  if (field.kind == Kind::kBytes) {
    MutableAs<apimachinery::Bytes>(value) = apimachinery::Bytes(std::string(bytes));
    return true;
  }
  return WireTypeOf(field.kind) == WireType::kBytes
             ? internal::DecodeProtobufValue(field.kind, bytes, value, error_)
             : error_.Set(kWrongType);
}

bool ProtobufDecoder::Packed(const FieldSchema& field, std::string_view bytes, void* member) {
  const WireType type = WireTypeOf(field.kind);
  WireReader in(bytes);
  while (!in.AtEnd()) {
    std::uint64_t number = 0;
    void* const value = field.ops->append(member);
    if (!ReadNumber(type, in, number) || !Number(field, type, number, value)) {
      return error_.AtIndex(field.ops->size(member) - 1);
    }
  }
  return true;
}

bool ProtobufDecoder::MapEntry(const FieldSchema& field, std::string_view bytes, void* member,
                               int depth) {
  // The value may come before the key: find both, then decode into the slot.
  std::string_view key;
  std::string_view value;
  std::uint64_t number = 0;
  std::optional<WireType> value_type;
  if (!internal::ForEachField(bytes, error_, [&](const Tag& tag, WireReader& in, bool& handled) {
        if (tag.number == 1) {
          handled = true;
          return tag.type == WireType::kBytes ? in.Bytes(key) || error_.Set(kBadLength)
                                              : error_.Set(kWrongType);
        }
        if (tag.number == 2) {
          handled = true;
          value_type = tag.type;
          return tag.type == WireType::kBytes ? in.Bytes(value) || error_.Set(kBadLength)
                                              : ReadNumber(tag.type, in, number);
        }
        return true;
      })) {
    return error_.AtKey(key);
  }
  void* slot = field.ops->slot(member, std::string(key));
  if (!value_type) {
    return true;
  }
  return (*value_type == WireType::kBytes ? Bytes(field, value, slot, depth)
                                          : Number(field, *value_type, number, slot)) ||
         error_.AtKey(key);
}

}  // namespace

apimachinery::Result<void> DecodeProtobuf(const TypeSchema& schema, std::string_view bytes,
                                          void* object) {
  ProtobufDecoder decoder(bytes.size());
  if (!decoder.Message(schema, bytes, object, 1)) {
    return apimachinery::Fail(decoder.ToStatus());
  }
  return {};
}

apimachinery::Result<void> DecodeProtobufField(FieldPath path, MessageBytes message, void* member) {
  ProtobufDecoder decoder(message.object_size);
  if (!decoder.OneField(path, message.bytes, member)) {
    return apimachinery::Fail(decoder.ToStatus());
  }
  return {};
}

}  // namespace kubexx::codec
