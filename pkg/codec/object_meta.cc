#include "kubexx/codec/object_meta.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/json_walk.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::LabelMap;
using apimachinery::Malformed;
using apimachinery::Result;
using internal::Tag;
using internal::WireReader;
using internal::WireType;

// Whether the uid is among what is read.
enum class Uid : std::uint8_t { kRead, kLeftOut };

bool ScanProtobufMeta(std::string_view bytes, Uid uid, ObjectMetaSummary& meta) {
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return false;
    }
    std::string* const target = tag.number == 1   ? &meta.name
                                : tag.number == 3 ? &meta.namespace_
                                : tag.number == 5 ? &meta.uid
                                : tag.number == 6 ? &meta.resource_version
                                                  : nullptr;
    std::string_view value;
    if (target == nullptr) {
      if (!in.Skip(tag.type)) {
        return false;
      }
    } else if (tag.type != WireType::kBytes || !in.Bytes(value)) {
      return false;
    } else if (target != &meta.uid || uid == Uid::kRead) {
      target->assign(value);
    }
  }
  return true;
}

Result<ObjectMetaSummary> ScanProtobuf(std::string_view bytes, Uid uid) {
  WireReader in(bytes);
  ObjectMetaSummary meta;
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return Fail(Malformed("", "bad field tag"));
    }
    std::string_view value;
    if (tag.number != 1) {
      if (!in.Skip(tag.type)) {
        return Fail(Malformed("", "bad field"));
      }
    } else if (tag.type != WireType::kBytes || !in.Bytes(value) ||
               !ScanProtobufMeta(value, uid, meta)) {
      return Fail(Malformed("metadata", "bad message"));
    }
  }
  return meta;
}

Result<ObjectMetaSummary> ScanJson(std::string_view text) {
  ObjectMetaSummary meta;
  std::string_view field;
  const bool ok = internal::ForEachMember(
      text,
      [&](std::string_view key, std::string_view value) {
        if (key != "metadata" || value == "null") {
          return true;
        }
        field = "metadata";
        return internal::ForEachMember(
            value,
            [&](std::string_view name, std::string_view item) {
              std::string* const target = name == "name"              ? &meta.name
                                          : name == "namespace"       ? &meta.namespace_
                                          : name == "uid"             ? &meta.uid
                                          : name == "resourceVersion" ? &meta.resource_version
                                                                      : nullptr;
              return target == nullptr || internal::ReadString(item, *target);
            },
            internal::kMaxPassedJsonDepth);
      },
      internal::kMaxPassedJsonDepth);
  if (!ok) {
    return Fail(Malformed(std::string(field), "malformed JSON"));
  }
  return meta;
}

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

Result<ObjectMetaSummary> ScanObjectMeta(Encoding encoding, std::string_view bytes) {
  return encoding == Encoding::kProtobuf ? ScanProtobuf(bytes, Uid::kRead) : ScanJson(bytes);
}

Result<ObjectMetaSummary> ScanObjectKey(Encoding encoding, std::string_view bytes) {
  return encoding == Encoding::kProtobuf ? ScanProtobuf(bytes, Uid::kLeftOut) : ScanJson(bytes);
}

std::string WithTypeMeta(std::string_view json, std::string_view api_version,
                         std::string_view kind) {
  bool named = kind.empty();
  bool empty = true;
  const bool is_object = internal::ForEachMember(
      json,
      [&named, &empty](std::string_view key, std::string_view) {
        named = named || key == "kind";
        empty = false;
        return true;
      },
      internal::kMaxPassedJsonDepth);
  if (named || !is_object) {
    return std::string(json);
  }
  std::string out = "{\"kind\":";
  internal::AppendQuoted(kind, out);
  out += ",\"apiVersion\":";
  internal::AppendQuoted(api_version, out);
  out += empty ? "" : ",";
  out += json.substr(json.find('{') + 1);
  return out;
}

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
