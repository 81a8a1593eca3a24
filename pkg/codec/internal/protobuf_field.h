/// @file
/// Functions of the protobuf decoder that read a schema table, and the walk over the occurrences of
/// one field.
#ifndef KUBEXX_CODEC_INTERNAL_PROTOBUF_FIELD_H_
#define KUBEXX_CODEC_INTERNAL_PROTOBUF_FIELD_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/protobuf_value.h"
#include "kubexx/codec/internal/wire.h"
#include "kubexx/codec/protobuf_fields.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

/// Returns the wire type of an element of `kind`.
inline WireType WireTypeOf(Kind kind) {
  switch (kind) {
    case Kind::kBool:
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kUint32:
    case Kind::kUint64:
      return WireType::kVarint;
    case Kind::kDouble:
      return WireType::kFixed64;
    default:
      return WireType::kBytes;
  }
}

/// Returns the field with number `tag`, or null if there is none. `next` is the index after the
/// field that was found last: fields mostly arrive in ascending order, and few numbers are left
/// out.
inline const FieldSchema* FindField(std::span<const FieldSchema> fields, std::uint32_t tag,
                                    std::size_t& next) {
  if (next < fields.size() && fields[next].tag == tag) {
    return &fields[next++];
  }
  if (next != 0 && fields[next - 1].tag == tag) {
    return &fields[next - 1];
  }
  if (next < fields.size() && fields[next].tag < tag) {
    std::size_t at = std::min<std::size_t>(next + (tag - fields[next].tag), fields.size() - 1);
    while (fields[at].tag > tag) {
      --at;
    }
    if (fields[at].tag == tag) {
      next = at + 1;
      return &fields[at];
    }
  }
  const auto found = std::ranges::lower_bound(fields, tag, {}, &FieldSchema::tag);
  if (found == fields.end() || found->tag != tag) {
    return nullptr;
  }
  next = static_cast<std::size_t>(found - fields.begin()) + 1;
  return &*found;
}

/// Stores a varint in a value of an integer kind or a bool, cut to its width as in Go.
inline void StoreVarint(Kind kind, std::uint64_t number, void* value) {
  switch (kind) {
    case Kind::kBool:
      *static_cast<bool*>(value) = number != 0;
      break;
    case Kind::kInt32:
      *static_cast<std::int32_t*>(value) = static_cast<std::int32_t>(number);
      break;
    case Kind::kInt64:
      *static_cast<std::int64_t*>(value) = static_cast<std::int64_t>(number);
      break;
    case Kind::kUint32:
      *static_cast<std::uint32_t*>(value) = static_cast<std::uint32_t>(number);
      break;
    default:
      *static_cast<std::uint64_t*>(value) = number;
      break;
  }
}

/// Returns how many length-delimited fields with number `tag` follow each other in `in`, which is
/// positioned after the tag of the first one. Counts fields that are really there, and stops at
/// `max`.
inline std::size_t CountRun(WireReader in, std::uint32_t tag, std::size_t max) {
  std::size_t count = 0;
  std::string_view bytes;
  Tag next{tag, WireType::kBytes};
  while (count < max && next.number == tag && next.type == WireType::kBytes && in.Bytes(bytes)) {
    ++count;
    if (in.AtEnd() || !in.ReadTag(next)) {
      break;
    }
  }
  return count;
}

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

/// Reads a value that is not bytes.
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

#endif  // KUBEXX_CODEC_INTERNAL_PROTOBUF_FIELD_H_
