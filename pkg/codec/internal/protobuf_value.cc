#include "kubexx/codec/internal/protobuf_value.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/codec/internal/field_access.h"

namespace kubexx::codec::internal {
namespace {

constexpr std::string_view kBadTime = "a time is before the year 0 or after the year 9999";

/// Whether RFC 3339 has a form for so many seconds since 1970.
bool IsWritable(std::int64_t seconds) {
  constexpr std::int64_t kYear0 = -62'167'219'200;
  constexpr std::int64_t kYear10000 = 253'402'300'800;
  return seconds >= kYear0 && seconds < kYear10000;
}

bool VarintBody(std::string_view bytes, std::uint64_t& first, std::uint64_t& second,
                FieldError& error) {
  return ForEachField(bytes, error, [&](const Tag& tag, WireReader& in, bool& handled) {
    if (tag.number != 1 && tag.number != 2) {
      return true;
    }
    handled = true;
    if (tag.type != WireType::kVarint) {
      return error.Set(kWrongType);
    }
    return in.Varint(tag.number == 1 ? first : second) || error.Set(kBadVarint);
  });
}

bool RawView(std::string_view bytes, std::string_view& raw, FieldError& error) {
  return ForEachField(bytes, error, [&](const Tag& tag, WireReader& in, bool& handled) {
    if (tag.number != 1) {
      return true;
    }
    handled = true;
    return tag.type == WireType::kBytes ? in.Bytes(raw) || error.Set(kBadLength)
                                        : error.Set(kWrongType);
  });
}

bool RawBody(std::string_view bytes, std::string& out, FieldError& error) {
  std::string_view raw;
  if (!RawView(bytes, raw, error)) {
    return false;
  }
  out.assign(raw);
  return true;
}

bool StringList(std::string_view bytes, std::vector<std::string>& out, FieldError& error) {
  out.clear();
  return ForEachField(bytes, error, [&](const Tag& tag, WireReader& in, bool& handled) {
    std::string_view item;
    if (tag.number != 1) {
      return true;
    }
    handled = true;
    if (tag.type != WireType::kBytes || !in.Bytes(item)) {
      error.Set(kBadLength);
      return error.AtIndex(out.size());
    }
    out.emplace_back(item);
    return true;
  });
}

bool QuantityBody(std::string_view bytes, apimachinery::Quantity& out, FieldError& error) {
  std::string_view text;
  if (!RawView(bytes, text, error)) {
    return false;
  }
  if (bytes.empty()) {
    out = {};
    return true;
  }
  auto quantity = apimachinery::Quantity::Parse(text);
  if (!quantity) {
    return error.Set(quantity.error().message);
  }
  out = std::move(*quantity);
  return true;
}

bool DateTimeBody(std::string_view bytes, apimachinery::DateTime& out, FieldError& error) {
  std::string_view text;
  if (!RawView(bytes, text, error)) {
    return false;
  }
  out = apimachinery::DateTime::FromText(std::string(text));
  return true;
}

bool IntOrStringBody(std::string_view bytes, apimachinery::IntOrString& out, FieldError& error) {
  std::uint64_t type = 0;
  std::uint64_t number = 0;
  std::string_view text;
  if (!ForEachField(bytes, error, [&](const Tag& tag, WireReader& in, bool& handled) {
        if (tag.number < 1 || tag.number > 3) {
          return true;
        }
        handled = true;
        if (tag.type != (tag.number == 3 ? WireType::kBytes : WireType::kVarint)) {
          return error.Set(kWrongType);
        }
        if (tag.number == 3) {
          return in.Bytes(text) || error.Set(kBadLength);
        }
        return in.Varint(tag.number == 1 ? type : number) || error.Set(kBadVarint);
      })) {
    return false;
  }
  if (type > 1) {
    return error.Set("neither an integer nor a string");
  }
  if (type == 1) {
    out.value.emplace<std::string>(text);
  } else {
    out.value = static_cast<std::int32_t>(number);
  }
  return true;
}

}  // namespace

bool DecodeProtobufValue(Kind kind, std::string_view bytes, void* value, FieldError& error) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  switch (kind) {
    case Kind::kStringList:
      return StringList(bytes, MutableAs<std::vector<std::string>>(value), error);
    case Kind::kQuantity:
      return QuantityBody(bytes, MutableAs<apimachinery::Quantity>(value), error);
    case Kind::kTime:
      if (!VarintBody(bytes, first, second, error)) {
        return false;
      }
      if (!IsWritable(static_cast<std::int64_t>(first))) {
        return error.Set(kBadTime);
      }
      MutableAs<apimachinery::Time>(value) = {bytes.empty() ? apimachinery::kZeroTimeSeconds
                                                            : static_cast<std::int64_t>(first)};
      return true;
    case Kind::kMicroTime: {
      if (!VarintBody(bytes, first, second, error)) {
        return false;
      }
      const auto nanos = static_cast<std::int32_t>(second);
      if (nanos < 0 || nanos > 999'999'999) {
        return error.Set("nanoseconds out of range");
      }
      if (!IsWritable(static_cast<std::int64_t>(first))) {
        return error.Set(kBadTime);
      }
      MutableAs<apimachinery::MicroTime>(value) = {
          bytes.empty() ? apimachinery::kZeroTimeSeconds : static_cast<std::int64_t>(first),
          nanos / 1000 * 1000};
      return true;
    }
    case Kind::kDateTime:
      return DateTimeBody(bytes, MutableAs<apimachinery::DateTime>(value), error);
    case Kind::kDuration:
      if (!VarintBody(bytes, first, second, error)) {
        return false;
      }
      MutableAs<apimachinery::Duration>(value).nanos = static_cast<std::int64_t>(first);
      return true;
    case Kind::kIntOrString:
      return IntOrStringBody(bytes, MutableAs<apimachinery::IntOrString>(value), error);
    case Kind::kRawExtension:
      return RawBody(bytes, MutableAs<apimachinery::RawExtension>(value).raw, error);
    case Kind::kFieldsV1:
      return RawBody(bytes, MutableAs<apimachinery::FieldsV1>(value).raw, error);
    default:
      return RawBody(bytes, MutableAs<apimachinery::JsonValue>(value).raw, error);
  }
}

}  // namespace kubexx::codec::internal
