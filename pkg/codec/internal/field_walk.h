/// @file
/// Walks over the occurrences of one field in a protobuf message.
#ifndef KUBEXX_CODEC_INTERNAL_FIELD_WALK_H_
#define KUBEXX_CODEC_INTERNAL_FIELD_WALK_H_

#include <cstdint>
#include <string_view>

#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/protobuf_value.h"
#include "kubexx/codec/internal/wire.h"
#include "kubexx/codec/protobuf_fields.h"

namespace kubexx::codec::internal {

/// One occurrence of a field: the value's bytes for WireType::kBytes, otherwise `number`.
struct Occurrence {
  const FieldSchema* field = nullptr;
  WireType type = WireType::kBytes;
  std::string_view bytes{};
  std::uint64_t number = 0;
  int depth = 1;  ///< of the message that has the field
  /// Behind the tag, for whoever counts how many occurrences follow each other.
  WireReader rest{{}};
};

/// Reads a value that is no bytes.
inline bool ReadNumber(WireType type, WireReader& in, std::uint64_t& number, FieldError& error) {
  switch (type) {
    case WireType::kVarint:
      return in.Varint(number) || error.Set(kBadVarint);
    case WireType::kFixed64:
      return in.Fixed64(number) || error.Set(kBadLength);
    default:
      return error.Set(kWrongType);
  }
}

/// Calls `each` for every occurrence of the field at the end of `path`, in order, and passes over
/// all other fields. Returns false, with an error in `error`, if the framing is bad or `each`
/// returns false.
template <class F>
bool ForEachOccurrence(FieldPath path, std::string_view bytes, FieldError& error, const F& each,
                       int depth = 1) {
  if (depth > kMaxDepth) {
    return error.Set("nested too deeply");
  }
  const FieldSchema& wanted = *path.front();
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return error.Set(kBadTag);
    }
    std::string_view value;
    if (tag.number != wanted.tag) {
      if (tag.type == WireType::kBytes ? !in.Bytes(value) : !in.Skip(tag.type)) {
        return error.Set(kBadUnknown);
      }
      continue;
    }
    const WireReader rest = in;
    std::uint64_t number = 0;
    bool ok = false;
    if (tag.type != WireType::kBytes) {
      ok = ReadNumber(tag.type, in, number, error) && (path.size() == 1 || error.Set(kWrongType)) &&
           each(Occurrence{&wanted, tag.type, {}, number, depth, rest});
    } else if (!in.Bytes(value)) {
      error.Set(kBadLength);
    } else {
      ok = path.size() == 1 ? each(Occurrence{&wanted, tag.type, value, 0, depth, rest})
                            : ForEachOccurrence(path.subspan(1), value, error, each, depth + 1);
    }
    if (!ok) {
      return error.AtField(wanted.name);
    }
  }
  return true;
}

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_FIELD_WALK_H_
