#include "kubexx/rest/internal/message/query_params.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kubexx/apimachinery/time.h"

namespace kubexx::rest::internal {
namespace {

using codec::Cardinality;
using codec::FieldSchema;
using codec::Kind;

template <class T>
const T& As(const void* value) {
  return *static_cast<const T*>(value);
}

// A value as text, and whether it is its type's zero value. There is no Text for types that
// parameters never have.
struct Text {
  std::string text{};
  bool zero = false;
};

template <class T>
Text Number(const void* value) {
  return {.text = std::to_string(As<T>(value)), .zero = As<T>(value) == 0};
}

std::optional<Text> TextOf(Kind kind, const void* value) {
  switch (kind) {
    case Kind::kBool:
      return Text{.text = As<bool>(value) ? "true" : "false", .zero = !As<bool>(value)};
    case Kind::kInt32:
      return Number<std::int32_t>(value);
    case Kind::kInt64:
      return Number<std::int64_t>(value);
    case Kind::kUint32:
      return Number<std::uint32_t>(value);
    case Kind::kUint64:
      return Number<std::uint64_t>(value);
    case Kind::kString:
      return Text{.text = As<std::string>(value), .zero = As<std::string>(value).empty()};
    case Kind::kTime:
      return Text{.text = As<apimachinery::Time>(value).ToString(),
                  .zero = As<apimachinery::Time>(value).IsZero()};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> QueryParams(const codec::TypeSchema& schema,
                                                             const void* object) {
  std::vector<std::pair<std::string, std::string>> params;
  for (const FieldSchema& field : schema.fields) {
    const void* member = static_cast<const std::byte*>(object) + field.offset;
    const auto add = [&](const void* value, bool skip_zero) {
      if (auto text = TextOf(field.kind, value); text && !(skip_zero && text->zero)) {
        params.emplace_back(field.name, std::move(text->text));
      }
    };
    if (field.cardinality == Cardinality::kPlain) {
      add(member, (field.flags & (codec::kOmitEmpty | codec::kOmitZero)) != 0);
    } else if (field.cardinality != Cardinality::kMap) {
      for (std::size_t i = 0; i < field.ops->size(member); ++i) {
        add(field.ops->at(member, i), false);
      }
    }
  }
  return params;
}

}  // namespace kubexx::rest::internal
