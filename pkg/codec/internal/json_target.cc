#include "kubexx/codec/internal/json_target.h"

namespace kubexx::codec::internal {
namespace {

Target FindInlined(const TypeSchema& schema, void* object, std::string_view name) {
  for (const FieldSchema& field : schema.fields) {
    if ((field.flags & kInline) == 0) {
      continue;
    }
    void* member = static_cast<char*>(object) + field.offset;
    const bool created = field.cardinality != Cardinality::kPlain && field.ops->size(member) == 0;
    void* inlined = member;
    if (created) {
      inlined = field.ops->append(member);
    } else if (field.cardinality != Cardinality::kPlain) {
      inlined = const_cast<void*>(field.ops->at(member, 0));
    }
    std::size_t hint = 0;
    if (const Target found = FindTarget(*field.message, inlined, name, hint);
        found.field != nullptr) {
      return found;
    }
    if (created) {
      field.ops->clear(member);
    }
  }
  return {};
}

}  // namespace

Target FindTarget(const TypeSchema& schema, void* object, std::string_view name,
                  std::size_t& hint) {
  const std::size_t count = schema.fields.size();
  bool has_inline = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = hint + i < count ? hint + i : hint + i - count;
    const FieldSchema& field = schema.fields[at];
    if ((field.flags & kInline) != 0) {
      has_inline = true;
    } else if (field.name == name) {
      hint = at + 1 < count ? at + 1 : 0;
      return {&field, static_cast<char*>(object) + field.offset};
    }
  }
  return has_inline ? FindInlined(schema, object, name) : Target{};
}

}  // namespace kubexx::codec::internal
