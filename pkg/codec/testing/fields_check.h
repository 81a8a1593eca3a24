/// @file
/// Compares single fields of a message, as they are read without the others, with the fields of the
/// decoded object. For tests and fuzzers.
#ifndef KUBEXX_CODEC_TESTING_FIELDS_CHECK_H_
#define KUBEXX_CODEC_TESTING_FIELDS_CHECK_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/protobuf_fields.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec::testing {

/// Reads every field of the message in `bytes` alone, down to a depth of four, and compares it with
/// that of `object`, which `bytes` were decoded into. Returns the path of the first one that
/// differs, or "".
class FieldsCheck {
 public:
  explicit FieldsCheck(std::string_view bytes)
      : message_{.bytes = bytes, .object_size = bytes.size()} {}

  std::string Difference(const TypeSchema& schema, const void* object) {
    std::vector<const FieldSchema*> path;
    return InMessage(schema, object, path);
  }

 private:
  static constexpr std::size_t kMaxPath = 4;
  using Path = std::vector<const FieldSchema*>;
  using Owned = std::unique_ptr<void, void (*)(void*)>;

  static Owned New(const TypeSchema& schema) { return {schema.create(), schema.destroy}; }
  static std::string Encoded(const TypeSchema& schema, const void* object) {
    std::string out;
    EncodeProtobuf(schema, object, out);
    return out;
  }
  static std::string Name(const Path& path, std::string_view what) {
    std::string name;
    for (const FieldSchema* field : path) {
      name += (name.empty() ? "" : ".") + std::string(field->name);
    }
    return name + ": " + std::string(what);
  }

  // `object` is null if an optional message on the path is missing.
  std::string InMessage(const TypeSchema& schema, const void* object, Path& path) {
    const Owned read = New(schema);
    const Owned none = New(schema);
    for (const FieldSchema& field : schema.fields) {
      if (field.tag == 0) {
        continue;
      }
      path.push_back(&field);
      if (!DecodeProtobufField(path, message_, static_cast<char*>(read.get()) + field.offset)) {
        return Name(path, "cannot be read");
      }
      const void* const member =
          object == nullptr ? nullptr : static_cast<const char*>(object) + field.offset;
      if (std::string difference = InField(field, member, path); !difference.empty()) {
        return difference;
      }
      path.pop_back();
    }
    if (Encoded(schema, read.get()) != Encoded(schema, object == nullptr ? none.get() : object)) {
      return Name(path, "the fields that are read alone make another message");
    }
    return {};
  }

  std::string InField(const FieldSchema& field, const void* member, Path& path) {
    const bool is_single =
        field.cardinality == Cardinality::kPlain || field.cardinality == Cardinality::kOptional;
    if (field.kind == Kind::kString && is_single) {
      return Text(field, member, path);
    }
    if (field.kind == Kind::kString && field.cardinality == Cardinality::kMap) {
      return Entries(field, member, path);
    }
    if (field.kind != Kind::kMessage || field.message->create == nullptr) {
      return {};
    }
    if (field.cardinality == Cardinality::kRepeated) {
      return Elements(field, member, path);
    }
    if (!is_single || path.size() == kMaxPath) {
      return {};
    }
    return InMessage(*field.message, Value(field, member), path);
  }

  // The value of a plain or optional field; null if there is none.
  static const void* Value(const FieldSchema& field, const void* member) {
    if (member == nullptr || field.cardinality == Cardinality::kPlain) {
      return member;
    }
    return field.ops->size(member) == 0 ? nullptr : field.ops->at(member, 0);
  }

  std::string Text(const FieldSchema& field, const void* member, const Path& path) {
    const auto text = FindProtobufText(path, message_);
    const auto* const value = static_cast<const std::string*>(Value(field, member));
    const bool is_plain = field.cardinality == Cardinality::kPlain;
    if (!text || (!is_plain && text->has_value() != (value != nullptr)) ||
        text->value_or("") != (value == nullptr ? "" : std::string_view(*value))) {
      return Name(path, "another text");
    }
    return {};
  }

  std::string Entries(const FieldSchema& field, const void* member, const Path& path) {
    bool same = true;
    bool has_absent = false;
    constexpr std::string_view kAbsent = "no such key";
    if (member != nullptr) {
      field.ops->for_each(member, [&](const std::string& key, const void* value) {
        has_absent = has_absent || key == kAbsent;
        const auto entry = FindProtobufEntry(path, message_, key);
        same = same && entry && *entry == *static_cast<const std::string*>(value);
      });
    }
    const auto absent = FindProtobufEntry(path, message_, kAbsent);
    same = same && absent && absent->has_value() == has_absent;
    return same ? std::string() : Name(path, "other entries");
  }

  std::string Elements(const FieldSchema& field, const void* member, const Path& path) {
    std::size_t count = 0;
    const std::size_t size = member == nullptr ? 0 : field.ops->size(member);
    bool same = true;
    const auto walked = ForEachProtobufElement(
        path, message_, [&](std::string_view bytes) -> apimachinery::Result<void> {
          const Owned element = New(*field.message);
          same = same && count < size &&
                 DecodeProtobuf(*field.message, bytes, element.get()).has_value() &&
                 Encoded(*field.message, element.get()) ==
                     Encoded(*field.message, field.ops->at(member, count));
          ++count;
          return {};
        });
    return walked && same && count == size ? std::string() : Name(path, "other elements");
  }

  MessageBytes message_;
};

}  // namespace kubexx::codec::testing

#endif  // KUBEXX_CODEC_TESTING_FIELDS_CHECK_H_
