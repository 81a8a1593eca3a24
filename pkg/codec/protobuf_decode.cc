#include <bit>
#include <optional>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/internal/element_budget.h"
#include "kubexx/codec/internal/field_access.h"
#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/protobuf_field.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

using internal::FieldError;
using internal::FindField;
using internal::MutableAs;
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

// Most strings on the wire are empty, because Go's value fields are always written.
void Assign(std::string& text, std::string_view bytes) {
  if (!bytes.empty() || !text.empty()) {
    text.assign(bytes);
  }
}

constexpr std::string_view kBadTime = "a time is before the year 0 or after the year 9999";

/// Whether RFC 3339 has a form for so many seconds since 1970.
bool IsWritable(std::int64_t seconds) {
  constexpr std::int64_t kYear0 = -62'167'219'200;
  constexpr std::int64_t kYear10000 = 253'402'300'800;
  return seconds >= kYear0 && seconds < kYear10000;
}

/// Decodes one message tree; holds the error.
class ProtobufDecoder {
 public:
  explicit ProtobufDecoder(std::size_t bytes) : elements_(bytes) {}
  bool Message(const TypeSchema& schema, std::string_view bytes, void* object, int depth);
  apimachinery::Status ToStatus() const { return error_.ToStatus(); }

 private:
  bool NumberField(const FieldSchema& field, WireType type, std::uint64_t number, void* member);
  bool BytesField(const FieldSchema& field, std::string_view bytes, void* member, int depth);
  bool Number(const FieldSchema& field, WireType type, std::uint64_t number, void* value);
  bool Bytes(const FieldSchema& field, std::string_view bytes, void* value, int depth);
  bool Packed(const FieldSchema& field, std::string_view bytes, void* member);
  bool MapEntry(const FieldSchema& field, std::string_view bytes, void* member, int depth);
  /// A message with a C++ type of its own.
  bool MessageValue(const FieldSchema& field, std::string_view bytes, void* value);
  bool StringList(std::string_view bytes, std::vector<std::string>& out);
  bool QuantityBody(std::string_view bytes, apimachinery::Quantity& out);
  bool DateTimeBody(std::string_view bytes, apimachinery::DateTime& out);
  bool IntOrStringBody(std::string_view bytes, apimachinery::IntOrString& out);
  bool RawView(std::string_view bytes, std::string_view& raw);
  bool RawBody(std::string_view bytes, std::string& out);
  bool VarintBody(std::string_view bytes, std::uint64_t& first, std::uint64_t& second);

  /// Calls `on_field(tag, reader, handled)` for each field of a message; skips those that it leaves
  /// unhandled.
  template <class F>
  bool ForEachField(std::string_view bytes, const F& on_field);
  /// A value that is no bytes.
  bool ReadNumber(WireType type, WireReader& in, std::uint64_t& number) {
    switch (type) {
      case WireType::kVarint:
        return in.Varint(number) || error_.Set(kBadVarint);
      case WireType::kFixed64:
        return in.Fixed64(number) || error_.Set(kBadLength);
      default:
        return error_.Set(kWrongType);
    }
  }

  FieldError error_{};
  internal::ElementBudget elements_;
};

template <class F>
bool ProtobufDecoder::ForEachField(std::string_view bytes, const F& on_field) {
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
  return WireTypeOf(field.kind) == WireType::kBytes ? MessageValue(field, bytes, value)
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
  if (!ForEachField(bytes, [&](const Tag& tag, WireReader& in, bool& handled) {
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

bool ProtobufDecoder::MessageValue(const FieldSchema& field, std::string_view bytes, void* value) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  switch (field.kind) {
    case Kind::kStringList:
      return StringList(bytes, MutableAs<std::vector<std::string>>(value));
    case Kind::kQuantity:
      return QuantityBody(bytes, MutableAs<apimachinery::Quantity>(value));
    case Kind::kTime:
      if (!VarintBody(bytes, first, second)) {
        return false;
      }
      if (!IsWritable(static_cast<std::int64_t>(first))) {
        return error_.Set(kBadTime);
      }
      MutableAs<apimachinery::Time>(value) = {bytes.empty() ? apimachinery::kZeroTimeSeconds
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
      if (!IsWritable(static_cast<std::int64_t>(first))) {
        return error_.Set(kBadTime);
      }
      MutableAs<apimachinery::MicroTime>(value) = {
          bytes.empty() ? apimachinery::kZeroTimeSeconds : static_cast<std::int64_t>(first),
          nanos / 1000 * 1000};
      return true;
    }
    case Kind::kDateTime:
      return DateTimeBody(bytes, MutableAs<apimachinery::DateTime>(value));
    case Kind::kDuration:
      if (!VarintBody(bytes, first, second)) {
        return false;
      }
      MutableAs<apimachinery::Duration>(value).nanos = static_cast<std::int64_t>(first);
      return true;
    case Kind::kIntOrString:
      return IntOrStringBody(bytes, MutableAs<apimachinery::IntOrString>(value));
    case Kind::kRawExtension:
      return RawBody(bytes, MutableAs<apimachinery::RawExtension>(value).raw);
    case Kind::kFieldsV1:
      return RawBody(bytes, MutableAs<apimachinery::FieldsV1>(value).raw);
    default:
      return RawBody(bytes, MutableAs<apimachinery::JsonValue>(value).raw);
  }
}

bool ProtobufDecoder::StringList(std::string_view bytes, std::vector<std::string>& out) {
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

bool ProtobufDecoder::QuantityBody(std::string_view bytes, apimachinery::Quantity& out) {
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

bool ProtobufDecoder::DateTimeBody(std::string_view bytes, apimachinery::DateTime& out) {
  std::string_view text;
  if (!RawView(bytes, text)) {
    return false;
  }
  out = apimachinery::DateTime::FromText(std::string(text));
  return true;
}

bool ProtobufDecoder::IntOrStringBody(std::string_view bytes, apimachinery::IntOrString& out) {
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

bool ProtobufDecoder::RawView(std::string_view bytes, std::string_view& raw) {
  return ForEachField(bytes, [&](const Tag& tag, WireReader& in, bool& handled) {
    if (tag.number != 1) {
      return true;
    }
    handled = true;
    return tag.type == WireType::kBytes ? in.Bytes(raw) || error_.Set(kBadLength)
                                        : error_.Set(kWrongType);
  });
}

bool ProtobufDecoder::RawBody(std::string_view bytes, std::string& out) {
  std::string_view raw;
  if (!RawView(bytes, raw)) {
    return false;
  }
  out.assign(raw);
  return true;
}

bool ProtobufDecoder::VarintBody(std::string_view bytes, std::uint64_t& first,
                                 std::uint64_t& second) {
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
  ProtobufDecoder decoder(bytes.size());
  if (!decoder.Message(schema, bytes, object, 1)) {
    return apimachinery::Fail(decoder.ToStatus());
  }
  return {};
}

}  // namespace kubexx::codec
