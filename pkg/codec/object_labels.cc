#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/codec/internal/json_walk.h"
#include "kubexx/codec/internal/wire.h"
#include "kubexx/codec/object_meta.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::LabelMap;
using apimachinery::Malformed;
using apimachinery::Result;
using internal::Tag;
using internal::WireReader;
using internal::WireType;

// The numbers of the fields in the messages of the Kubernetes API.
constexpr std::uint32_t kMetadataField = 1;
constexpr std::uint32_t kLabelsField = 11;
constexpr std::uint32_t kMapKeyField = 1;
constexpr std::uint32_t kMapValueField = 2;

// Calls `take` for each field of `number`, which has to be a length and bytes. False at bad bytes.
template <class Take>
bool EachBytesField(std::string_view message, std::uint32_t number, Take take) {
  WireReader in(message);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return false;
    }
    std::string_view value;
    if (tag.number != number) {
      if (!in.Skip(tag.type)) {
        return false;
      }
    } else if (tag.type != WireType::kBytes || !in.Bytes(value) || !take(value)) {
      return false;
    }
  }
  return true;
}

bool TakeLabel(std::string_view entry, LabelMap& labels) {
  std::string_view key;
  std::string_view value;
  const auto take_into = [](std::string_view& out) {
    return [&out](std::string_view bytes) {
      out = bytes;
      return true;
    };
  };
  if (!EachBytesField(entry, kMapKeyField, take_into(key)) ||
      !EachBytesField(entry, kMapValueField, take_into(value))) {
    return false;
  }
  labels.insert_or_assign(std::string(key), std::string(value));
  return true;
}

bool LabelsOfProtobuf(std::string_view bytes, LabelMap& labels) {
  return EachBytesField(bytes, kMetadataField, [&labels](std::string_view metadata) {
    return EachBytesField(metadata, kLabelsField,
                          [&labels](std::string_view entry) { return TakeLabel(entry, labels); });
  });
}

bool LabelsOfJson(std::string_view text, LabelMap& labels) {
  return internal::ForEachMember(
      text,
      [&](std::string_view key, std::string_view metadata) {
        if (key != "metadata" || metadata == "null") {
          return true;
        }
        return internal::ForEachMember(
            metadata,
            [&](std::string_view name, std::string_view map) {
              if (name != "labels" || map == "null") {
                return true;
              }
              return internal::ForEachMember(
                  map, [&](std::string_view label, std::string_view literal) {
                    std::string value;
                    if (!internal::ReadString(literal, value)) {
                      return false;
                    }
                    labels.insert_or_assign(std::string(label), std::move(value));
                    return true;
                  });
            },
            internal::kMaxPassedJsonDepth);
      },
      internal::kMaxPassedJsonDepth);
}

}  // namespace

Result<LabelMap> ScanLabels(Encoding encoding, std::string_view bytes) {
  LabelMap labels;
  const bool read = encoding == Encoding::kProtobuf ? LabelsOfProtobuf(bytes, labels)
                                                    : LabelsOfJson(bytes, labels);
  if (!read) {
    return Fail(Malformed("metadata.labels", "the object or its metadata cannot be read"));
  }
  return labels;
}

}  // namespace kubexx::codec
