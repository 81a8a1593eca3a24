#include "kubexx/codec/internal/zero.h"

#include <algorithm>

#include "kubexx/codec/internal/field_access.h"

namespace kubexx::codec::internal {
namespace {

bool IsZeroStruct(const FieldSchema& field, const void* value) {
  switch (field.kind) {
    case Kind::kMessage:
      return std::ranges::all_of(field.message->fields, [value](const FieldSchema& inner) {
        return IsZero(inner, static_cast<const char*>(value) + inner.offset);
      });
    case Kind::kQuantity:
      return As<apimachinery::Quantity>(value) == apimachinery::Quantity();
    case Kind::kTime:
      return As<apimachinery::Time>(value).IsZero();
    case Kind::kMicroTime:
      return As<apimachinery::MicroTime>(value).IsZero();
    case Kind::kDateTime:
      return As<apimachinery::DateTime>(value).IsZero();
    case Kind::kDuration:
      return As<apimachinery::Duration>(value).nanos == 0;
    case Kind::kIntOrString:
      return As<apimachinery::IntOrString>(value) == apimachinery::IntOrString();
    case Kind::kRawExtension:
      return As<apimachinery::RawExtension>(value).raw.empty();
    case Kind::kFieldsV1:
      return As<apimachinery::FieldsV1>(value).raw.empty();
    case Kind::kJsonValue:
      return As<apimachinery::JsonValue>(value).raw.empty();
    default:
      return false;
  }
}

bool IsEmptyScalar(Kind kind, const void* value) {
  switch (kind) {
    case Kind::kBool:
      return !As<bool>(value);
    case Kind::kInt32:
      return As<std::int32_t>(value) == 0;
    case Kind::kInt64:
      return As<std::int64_t>(value) == 0;
    case Kind::kUint32:
      return As<std::uint32_t>(value) == 0;
    case Kind::kUint64:
      return As<std::uint64_t>(value) == 0;
    case Kind::kDouble:
      return As<double>(value) == 0;
    case Kind::kString:
      return As<std::string>(value).empty();
    case Kind::kBytes:
      return As<apimachinery::Bytes>(value).empty();
    case Kind::kStringList:
      return As<std::vector<std::string>>(value).empty();
    default:
      return false;
  }
}

}  // namespace

bool IsEmpty(const FieldSchema& field, const void* member) {
  return field.cardinality == Cardinality::kPlain ? IsEmptyScalar(field.kind, member)
                                                  : field.ops->size(member) == 0;
}

bool IsZero(const FieldSchema& field, const void* member) {
  return IsEmpty(field, member) ||
         (field.cardinality == Cardinality::kPlain && IsZeroStruct(field, member));
}

}  // namespace kubexx::codec::internal
