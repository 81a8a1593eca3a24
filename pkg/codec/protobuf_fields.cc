#include "kubexx/codec/protobuf_fields.h"

#include <cstdint>
#include <vector>

#include "kubexx/codec/internal/element_budget.h"
#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/protobuf_field.h"
#include "kubexx/codec/internal/protobuf_value.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using internal::FieldError;
using internal::ForEachOccurrence;
using internal::Occurrence;
using internal::Tag;
using internal::WireReader;
using internal::WireType;

/// One entry of a map of texts; the value is missing in some.
struct TextEntry {
  std::string_view key{};
  std::optional<std::string_view> value{};
};

// As the decoder does it, for which the last key and the last value count.
bool ReadTextEntry(std::string_view bytes, TextEntry& entry, FieldError& error) {
  bool is_number = false;
  const auto on_field = [&](const Tag& tag, WireReader& in, bool& handled) {
    if (tag.number != 1 && tag.number != 2) {
      return true;
    }
    handled = true;
    if (tag.type == WireType::kBytes) {
      std::string_view text;
      if (!in.Bytes(text)) {
        return error.Set(internal::kBadLength);
      }
      if (tag.number == 1) {
        entry.key = text;
      } else {
        entry.value = text;
        is_number = false;
      }
      return true;
    }
    std::uint64_t number = 0;
    is_number = true;
    return tag.number == 2 ? internal::ReadNumber(tag.type, in, number, error)
                           : error.Set(internal::kWrongType);
  };
  return internal::ForEachField(bytes, error, on_field) &&
         (!is_number || error.Set(internal::kWrongType));
}

template <class F>
Result<void> Walk(FieldPath path, std::string_view bytes, FieldError& error, const F& each) {
  if (!ForEachOccurrence(path, bytes, error, each)) {
    return Fail(error.ToStatus());
  }
  return {};
}

}  // namespace

Result<std::optional<std::string_view>> FindProtobufText(FieldPath path, MessageBytes message) {
  std::optional<std::string_view> text;
  FieldError error;
  KX_RETURN_IF_ERROR(Walk(path, message.bytes, error, [&](const Occurrence& found) {
    if (found.type != WireType::kBytes) {
      return error.Set(internal::kWrongType);
    }
    text = found.bytes;
    return true;
  }));
  return text;
}

Result<std::optional<std::string_view>> FindProtobufEntry(FieldPath path, MessageBytes message,
                                                          std::string_view key) {
  std::optional<std::string_view> value;
  FieldError error;
  KX_RETURN_IF_ERROR(Walk(path, message.bytes, error, [&](const Occurrence& found) {
    if (found.type != WireType::kBytes) {
      return error.Set(internal::kWrongType);
    }
    TextEntry entry;
    if (!ReadTextEntry(found.bytes, entry, error)) {
      return error.AtKey(entry.key);
    }
    if (entry.key == key && (entry.value || !value)) {
      value = entry.value.value_or("");  // an entry without a value changes none that is there
    }
    return true;
  }));
  return value;
}

Result<void> ForEachProtobufElement(FieldPath path, MessageBytes message,
                                    base::FunctionRef<Result<void>(std::string_view)> each) {
  FieldError error;
  internal::ElementBudget elements(message.object_size);
  std::size_t index = 0;
  Result<void> refused;
  const bool walked = ForEachOccurrence(path, message.bytes, error, [&](const Occurrence& found) {
    if (found.type != WireType::kBytes) {
      error.Set(internal::kWrongType);
      return error.AtIndex(index);
    }
    if (!elements.Take()) {
      return error.Set(internal::kTooManyElements);
    }
    ++index;
    refused = each(found.bytes);
    return refused.has_value();
  });
  if (!refused) {
    return refused;
  }
  return walked ? Result<void>() : Fail(error.ToStatus());
}

bool HaveSameProtobufBytes(FieldPath path, std::string_view message, std::string_view other) {
  FieldError error;
  std::vector<Occurrence> found;
  const auto keep = [&found](const Occurrence& each) {
    found.push_back(each);
    return true;
  };
  std::size_t next = 0;
  const auto compare = [&found, &next](const Occurrence& each) {
    const bool same = next < found.size() && found[next].type == each.type &&
                      found[next].number == each.number && found[next].bytes == each.bytes;
    ++next;
    return same;
  };
  return ForEachOccurrence(path, message, error, keep) &&
         ForEachOccurrence(path, other, error, compare) && next == found.size();
}

}  // namespace kubexx::codec
