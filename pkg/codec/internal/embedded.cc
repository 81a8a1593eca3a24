#include "kubexx/codec/internal/embedded.h"

#include <memory>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;

/// Walks an object tree; `depth` counts embedded objects and messages alike.
class Replacer {
 public:
  explicit Replacer(const Registry& registry) : registry_(registry) {}

  Result<void> Message(const TypeSchema& schema, void* object, int depth) {
    if (depth > kMaxDepth) {
      return Fail(Malformed("", "embedded objects nest too deeply"));
    }
    for (const FieldSchema& field : schema.fields) {
      if (field.kind == Kind::kMessage || field.kind == Kind::kRawExtension) {
        if (auto done = Field(field, static_cast<char*>(object) + field.offset, depth); !done) {
          return Fail(done.error().WithContext(field.name));
        }
      }
    }
    return {};
  }

 private:
  Result<void> Field(const FieldSchema& field, void* member, int depth);
  Result<void> Element(const FieldSchema& field, void* value, int depth);

  const Registry& registry_;
};

Result<void> Replacer::Field(const FieldSchema& field, void* member, int depth) {
  if (field.cardinality == Cardinality::kPlain) {
    return Element(field, member, depth);
  }
  Result<void> result;
  if (field.cardinality == Cardinality::kMap) {
    field.ops->for_each(member, [&](const std::string&, const void* value) {
      if (result) {
        result = Element(field, const_cast<void*>(value), depth);
      }
    });
    return result;
  }
  for (std::size_t i = 0; i < field.ops->size(member) && result; ++i) {
    result = Element(field, const_cast<void*>(field.ops->at(member, i)), depth);
  }
  return result;
}

Result<void> Replacer::Element(const FieldSchema& field, void* value, int depth) {
  if (field.kind == Kind::kMessage) {
    return Message(*field.message, value, depth + 1);
  }
  std::string& raw = static_cast<apimachinery::RawExtension*>(value)->raw;
  if (!raw.starts_with(kEnvelopeMagic)) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const Envelope envelope, ReadEnvelope(raw));
  if (envelope.content_type.starts_with("application/json")) {
    raw = std::string(envelope.raw);
    return {};
  }
  const TypeSchema* schema = registry_.Find(envelope.api_version, envelope.kind);
  if (schema == nullptr) {
    return Fail(Malformed("", "unknown type " + std::string(envelope.api_version) + " " +
                                  std::string(envelope.kind)));
  }
  const std::unique_ptr<void, void (*)(void*)> object(schema->create(), schema->destroy);
  KX_RETURN_IF_ERROR(DecodeProtobuf(*schema, envelope.raw, object.get()));
  KX_RETURN_IF_ERROR(Message(*schema, object.get(), depth + 1));
  std::string json;
  EncodeJson(*schema, object.get(), json);
  raw = std::move(json);
  return {};
}

}  // namespace

Result<void> EmbeddedToJson(const TypeSchema& schema, void* object, const Registry& registry) {
  return Replacer(registry).Message(schema, object, 1);
}

}  // namespace kubexx::codec::internal
