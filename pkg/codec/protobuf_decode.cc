#include <bit>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/protobuf_field.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

using internal::FieldError;
using internal::FindField;
using internal::StoreVarint;
using internal::Tag;
using internal::WireReader;
using internal::WireType;
using internal::WireTypeOf;

constexpr std::string_view kBadLength = "length beyond the end of the input";
constexpr std::string_view kBadVarint = "bad varint";
constexpr std::string_view kWrongType = "wrong wire type";
// Room is made at once for this many elements of a list that is really there.
constexpr std::size_t kMaxReserve = 1024;
constexpr std::string_view kBadTag = "bad field tag";
constexpr std::string_view kBadUnknown = "bad unknown field";

template <class E>
E& As(void* value) {
  return *static_cast<E*>(value);
}

/// Decodes one message tree; holds the error.
class Decoder {
 public:
  bool Message(const TypeSchema& schema, std::string_view bytes, void* object, int depth);
  apimachinery::Status ToStatus() const { return error_.ToStatus(); }

 private:
  bool Field(const FieldSchema& field, WireType type, WireReader& in, void* member, int depth);
  bool Repeated(const FieldSchema& field, WireType type, WireReader& in, void* member, int depth);
  bool Value(const FieldSchema& field, WireType type, WireReader& in, void* value, int depth);
  bool String(WireReader& in, std::string& text);
  bool Scalar(const FieldSchema& field, WireType type, WireReader& in, void* value);
  bool Packed(const FieldSchema& field, std::string_view bytes, void* member);
  bool MapEntry(const FieldSchema& field, std::string_view bytes, void* member, int depth);
  bool MessageValue(const FieldSchema& field, std::string_view bytes, void* value, int depth);
  bool StringList(std::string_view bytes, std::vector<std::string>& out);
  bool QuantityBody(std::string_view bytes, apimachinery::Quantity& out);
  bool IntOrStringBody(std::string_view bytes, apimachinery::IntOrString& out);
  bool RawView(std::string_view bytes, std::string_view& raw);
  bool RawBody(std::string_view bytes, std::string& out);
  bool VarintBody(std::string_view bytes, std::uint64_t& first, std::uint64_t& second);

  /// Calls `on_field(tag, reader, handled)` for each field of a message; skips those that it leaves
  /// unhandled.
  template <class F>
  bool ForEachField(std::string_view bytes, const F& on_field);

  FieldError error_{};
};

template <class F>
bool Decoder::ForEachField(std::string_view bytes, const F& on_field) {
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return error_.Set(kBadTag);
    }
    bool handled = false;
    if (!on_field(tag, in, handled)) {
      return false;
    }
    if (!handled && !in.Skip(tag.type)) {
      return error_.Set(kBadUnknown);
    }
  }
  return true;
}

// Most of the time of a decoding is in this loop: no ForEachField, so that its state stays in
// registers.
bool Decoder::Message(const TypeSchema& schema, std::string_view bytes, void* object, int depth) {
  if (depth > internal::kMaxDepth) {
    return error_.Set("nested too deeply");
  }
  std::size_t hint = 0;
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return error_.Set(kBadTag);
    }
    const FieldSchema* const field = FindField(schema.fields, tag.number, hint);
    if (field == nullptr) {
      if (!in.Skip(tag.type)) {
        return error_.Set(kBadUnknown);
      }
    } else if (!Field(*field, tag.type, in, static_cast<char*>(object) + field->offset, depth)) {
      return error_.AtField(field->name);
    }
  }
  return true;
}

bool Decoder::Field(const FieldSchema& field, WireType type, WireReader& in, void* member,
                    int depth) {
  switch (field.cardinality) {
    case Cardinality::kPlain:
      // Two thirds of all fields.
      return field.kind == Kind::kString && type == WireType::kBytes
                 ? String(in, As<std::string>(member))
                 : Value(field, type, in, member, depth);
    case Cardinality::kOptional: {
      // A second occurrence of a message adds to the first.
      const bool merge = field.kind == Kind::kMessage && field.ops->size(member) != 0;
      void* value = merge ? const_cast<void*>(field.ops->at(member, 0)) : field.ops->append(member);
      return Value(field, type, in, value, depth);
    }
    case Cardinality::kRepeated:
      return Repeated(field, type, in, member, depth);
    case Cardinality::kMap: {
      std::string_view entry;
      if (type != WireType::kBytes) {
        return error_.Set(kWrongType);
      }
      return in.Bytes(entry) ? MapEntry(field, entry, member, depth) : error_.Set(kBadLength);
    }
  }
  return true;
}

bool Decoder::Repeated(const FieldSchema& field, WireType type, WireReader& in, void* member,
                       int depth) {
  if (type == WireType::kBytes && WireTypeOf(field.kind) != WireType::kBytes) {
    std::string_view packed;
    return in.Bytes(packed) ? Packed(field, packed, member) : error_.Set(kBadLength);
  }
  if (type == WireType::kBytes && field.ops->size(member) == 0) {
    field.ops->reserve(member, internal::CountRun(in, field.tag, kMaxReserve));
  }
  return Value(field, type, in, field.ops->append(member), depth) ||
         error_.AtIndex(field.ops->size(member) - 1);
}

bool Decoder::String(WireReader& in, std::string& text) {
  std::string_view bytes;
  if (!in.Bytes(bytes)) {
    return error_.Set(kBadLength);
  }
  // Most strings on the wire are empty, because Go's value fields are always written.
  if (!bytes.empty() || !text.empty()) {
    text.assign(bytes);
  }
  return true;
}

bool Decoder::Value(const FieldSchema& field, WireType type, WireReader& in, void* value,
                    int depth) {
  if (type != WireTypeOf(field.kind)) {
    return error_.Set(kWrongType);
  }
  if (type != WireType::kBytes) {
    return Scalar(field, type, in, value);
  }
  if (field.kind == Kind::kString) {
    return String(in, As<std::string>(value));
  }
  std::string_view bytes;
  if (!in.Bytes(bytes)) {
    return error_.Set(kBadLength);
  }
  if (field.kind == Kind::kBytes) {
    As<apimachinery::Bytes>(value) = apimachinery::Bytes(std::string(bytes));
    return true;
  }
  return MessageValue(field, bytes, value, depth);
}

bool Decoder::Scalar(const FieldSchema& field, WireType type, WireReader& in, void* value) {
  std::uint64_t number = 0;
  if (type == WireType::kFixed64) {
    if (!in.Fixed64(number)) {
      return error_.Set(kBadLength);
    }
    As<double>(value) = std::bit_cast<double>(number);
    return true;
  }
  if (!in.Varint(number)) {
    return error_.Set(kBadVarint);
  }
  StoreVarint(field.kind, number, value);
  return true;
}

bool Decoder::Packed(const FieldSchema& field, std::string_view bytes, void* member) {
  WireReader in(bytes);
  while (!in.AtEnd()) {
    if (!Scalar(field, WireTypeOf(field.kind), in, field.ops->append(member))) {
      return error_.AtIndex(field.ops->size(member) - 1);
    }
  }
  return true;
}

bool Decoder::MapEntry(const FieldSchema& field, std::string_view bytes, void* member, int depth) {
  // The value may come before the key: find both, then decode into the slot.
  std::string_view key;
  const char* value_begin = nullptr;
  Tag value_tag;
  const char* const end = bytes.data() + bytes.size();
  if (!ForEachField(bytes, [&](const Tag& tag, WireReader& in, bool& handled) {
        if (tag.number == 1) {
          handled = true;
          return tag.type == WireType::kBytes ? in.Bytes(key) || error_.Set(kBadLength)
                                              : error_.Set(kWrongType);
        }
        if (tag.number == 2) {
          value_begin = in.pos();
          value_tag = tag;
        }
        return true;
      })) {
    return error_.AtKey(key);
  }
  void* slot = field.ops->slot(member, std::string(key));
  if (value_begin == nullptr) {
    return true;
  }
  WireReader in(std::string_view(value_begin, static_cast<std::size_t>(end - value_begin)));
  return Value(field, value_tag.type, in, slot, depth) || error_.AtKey(key);
}

bool Decoder::MessageValue(const FieldSchema& field, std::string_view bytes, void* value,
                           int depth) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  switch (field.kind) {
    case Kind::kMessage:
      return Message(*field.message, bytes, value, depth + 1);
    case Kind::kStringList:
      return StringList(bytes, As<std::vector<std::string>>(value));
    case Kind::kQuantity:
      return QuantityBody(bytes, As<apimachinery::Quantity>(value));
    case Kind::kTime:
      if (!VarintBody(bytes, first, second)) {
        return false;
      }
      As<apimachinery::Time>(value) = {bytes.empty() ? apimachinery::kZeroTimeSeconds
                                                     : static_cast<std::int64_t>(first)};
      return true;
    case Kind::kMicroTime: {
      if (!VarintBody(bytes, first, second)) {
        return false;
      }
      const auto nanos = static_cast<std::int32_t>(second);
      if (nanos < 0 || nanos > 999'999'999) {
        return error_.Set("nanoseconds out of range");
      }
      As<apimachinery::MicroTime>(value) = {
          bytes.empty() ? apimachinery::kZeroTimeSeconds : static_cast<std::int64_t>(first),
          nanos / 1000 * 1000};
      return true;
    }
    case Kind::kDuration:
      if (!VarintBody(bytes, first, second)) {
        return false;
      }
      As<apimachinery::Duration>(value).nanos = static_cast<std::int64_t>(first);
      return true;
    case Kind::kIntOrString:
      return IntOrStringBody(bytes, As<apimachinery::IntOrString>(value));
    case Kind::kRawExtension:
      return RawBody(bytes, As<apimachinery::RawExtension>(value).raw);
    case Kind::kFieldsV1:
      return RawBody(bytes, As<apimachinery::FieldsV1>(value).raw);
    default:
      return RawBody(bytes, As<apimachinery::JsonValue>(value).raw);
  }
}

bool Decoder::StringList(std::string_view bytes, std::vector<std::string>& out) {
  out.clear();
  return ForEachField(bytes, [&](const Tag& tag, WireReader& in, bool& handled) {
    std::string_view item;
    if (tag.number != 1) {
      return true;
    }
    handled = true;
    if (tag.type != WireType::kBytes || !in.Bytes(item)) {
      error_.Set(kBadLength);
      return error_.AtIndex(out.size());
    }
    out.emplace_back(item);
    return true;
  });
}

bool Decoder::QuantityBody(std::string_view bytes, apimachinery::Quantity& out) {
  std::string_view text;
  if (!RawView(bytes, text)) {
    return false;
  }
  if (bytes.empty()) {
    out = {};
    return true;
  }
  auto quantity = apimachinery::Quantity::Parse(text);
  if (!quantity) {
    return error_.Set(quantity.error().message);
  }
  out = std::move(*quantity);
  return true;
}

bool Decoder::IntOrStringBody(std::string_view bytes, apimachinery::IntOrString& out) {
  std::uint64_t type = 0;
  std::uint64_t number = 0;
  std::string_view text;
  if (!ForEachField(bytes, [&](const Tag& tag, WireReader& in, bool& handled) {
        if (tag.number < 1 || tag.number > 3) {
          return true;
        }
        handled = true;
        if (tag.type != (tag.number == 3 ? WireType::kBytes : WireType::kVarint)) {
          return error_.Set(kWrongType);
        }
        if (tag.number == 3) {
          return in.Bytes(text) || error_.Set(kBadLength);
        }
        return in.Varint(tag.number == 1 ? type : number) || error_.Set(kBadVarint);
      })) {
    return false;
  }
  if (type > 1) {
    return error_.Set("neither an integer nor a string");
  }
  if (type == 1) {
    out.value.emplace<std::string>(text);
  } else {
    out.value = static_cast<std::int32_t>(number);
  }
  return true;
}

bool Decoder::RawView(std::string_view bytes, std::string_view& raw) {
  return ForEachField(bytes, [&](const Tag& tag, WireReader& in, bool& handled) {
    if (tag.number != 1) {
      return true;
    }
    handled = true;
    return tag.type == WireType::kBytes ? in.Bytes(raw) || error_.Set(kBadLength)
                                        : error_.Set(kWrongType);
  });
}

bool Decoder::RawBody(std::string_view bytes, std::string& out) {
  std::string_view raw;
  if (!RawView(bytes, raw)) {
    return false;
  }
  out.assign(raw);
  return true;
}

bool Decoder::VarintBody(std::string_view bytes, std::uint64_t& first, std::uint64_t& second) {
  return ForEachField(bytes, [&](const Tag& tag, WireReader& in, bool& handled) {
    if (tag.number != 1 && tag.number != 2) {
      return true;
    }
    handled = true;
    if (tag.type != WireType::kVarint) {
      return error_.Set(kWrongType);
    }
    return in.Varint(tag.number == 1 ? first : second) || error_.Set(kBadVarint);
  });
}

}  // namespace

apimachinery::Result<void> DecodeProtobuf(const TypeSchema& schema, std::string_view bytes,
                                          void* object) {
  Decoder decoder;
  if (!decoder.Message(schema, bytes, object, 1)) {
    return apimachinery::Fail(decoder.ToStatus());
  }
  return {};
}

}  // namespace kubexx::codec
