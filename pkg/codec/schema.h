/// @file
/// Schema tables, which tell the codecs about a type. hack/codegen writes a TypeSchema for each
/// struct of the built-in API, and kubexx-codegen writes those of custom resources. Two codecs
/// (protobuf_*.cc, json_*.cc) use the same table, so that a new type adds data and no code.
#ifndef KUBEXX_CODEC_SCHEMA_H_
#define KUBEXX_CODEC_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/box.h"
#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apimachinery/values.h"
#include "kubexx/base/function_ref.h"

namespace kubexx::codec {

/// The kind of one element of a field, which determines the element's C++ type.
enum class Kind : std::uint8_t {
  kBool,          ///< bool; as an element of a list apimachinery::Bool, which begins with the bool
  kInt32,         ///< std::int32_t, varint
  kInt64,         ///< std::int64_t, varint
  kUint32,        ///< std::uint32_t, varint
  kUint64,        ///< std::uint64_t, varint
  kDouble,        ///< double, fixed64
  kString,        ///< std::string
  kBytes,         ///< apimachinery::Bytes, base64 in JSON
  kMessage,       ///< a struct with a TypeSchema of its own
  kStringList,    ///< std::vector<std::string>: a message {repeated string items = 1}; an array in
                  ///< JSON (ExtraValue, Verbs)
  kQuantity,      ///< apimachinery::Quantity: message {string string = 1}
  kTime,          ///< apimachinery::Time: message {int64 seconds = 1; int32 nanos = 2}
  kMicroTime,     ///< apimachinery::MicroTime, same message
  kDateTime,      ///< apimachinery::DateTime of custom resources: message {string string = 1}
  kDuration,      ///< apimachinery::Duration: message {int64 duration = 1}
  kIntOrString,   ///< apimachinery::IntOrString: message {int64 type = 1; int32 intVal = 2; string
                  ///< strVal = 3}
  kRawExtension,  ///< apimachinery::RawExtension: message {bytes raw = 1}
  kFieldsV1,      ///< apimachinery::FieldsV1: message {bytes Raw = 1}
  kJsonValue,     ///< apimachinery::JsonValue: message {bytes raw = 1}
};

/// The number of elements of a field, which determines the container around the element's C++ type
/// E.
enum class Cardinality : std::uint8_t {
  kPlain,     ///< E itself; always written to protobuf, even when it is zero, like Go's value
              ///< fields
  kOptional,  ///< like Go's pointers: Box<E> if E is a message, and otherwise std::optional<E>;
              ///< written to protobuf only if it is set
  kRepeated,  ///< std::vector<E>
  kMap,  ///< std::map<std::string, E>: repeated message {string key = 1; E value = 2}, ascending by
         ///< key
};

/// How a field behaves in JSON.
enum FieldFlags : std::uint8_t {
  kNoFlags = 0,
  kOmitEmpty = 1,  ///< Go's omitempty: the field is left out if it is false, 0, "", null, or an
                   ///< empty list or map, but never if it is a struct
  kOmitZero = 2,   ///< Go's omitzero: the field is left out if it has its type's zero value
  kInline = 4,  ///< the fields of this message belong to the object around it; in protobuf it is a
                ///< message of its own
  kKeepNull = 8,      ///< for kOptional: null is a value of the element, and does not mean that the
                      ///< field is absent
  kEscapedName = 16,  ///< `name` contains characters that JSON escapes
};

struct TypeSchema;

/// Functions that access the elements of a field in any container. `field` is the address of the
/// member. Functions that do not apply to a container are null.
struct ContainerOps {
  /// Returns the number of elements, which is 0 or 1 for kOptional.
  std::size_t (*size)(const void* field);
  /// For kOptional and kRepeated: returns the element at `index`, which is less than the size.
  const void* (*at)(const void* field, std::size_t index);
  /// For kOptional: replaces the value by a value-initialised one. For kRepeated: adds a
  /// value-initialised element at the end. Returns the new element.
  void* (*append)(void* field);
  /// For kMap: returns the element at `key`, which is inserted if it is new.
  void* (*slot)(void* field, std::string&& key);
  /// For kMap: calls `each` for every entry, ascending by key.
  void (*for_each)(const void* field,
                   base::FunctionRef<void(const std::string&, const void*)> each);
  /// For kMap: the same, descending by key.
  void (*for_each_reverse)(const void* field,
                           base::FunctionRef<void(const std::string&, const void*)> each);
  /// Empties the container.
  void (*clear)(void* field);
  /// For kRepeated: reserves memory for `count` elements.
  void (*reserve)(void* field, std::size_t count);
};

/// One field of a type.
struct FieldSchema {
  std::string_view name;  ///< the name in JSON and in protobuf
  std::uint32_t tag = 0;  ///< the number in protobuf; 0 if the field is not in protobuf
  Kind kind = Kind::kString;
  Cardinality cardinality = Cardinality::kPlain;
  std::uint8_t flags = kNoFlags;
  std::uint32_t offset = 0;             ///< the offset of the member in the struct
  const TypeSchema* message = nullptr;  ///< the table of the element; only for kMessage
  const ContainerOps* ops = nullptr;    ///< null for kPlain, whose element is the member itself
};

/// The form of a type in JSON, which for most types is an object of their fields.
enum class JsonForm : std::uint8_t {
  kObject,
  kBareObject,           ///< a root kind that has no "kind" and "apiVersion": meta/v1 WatchEvent
  kSchemaOrBool,         ///< apiextensions JSONSchemaPropsOrBool: true, false or the schema
  kSchemaOrArray,        ///< apiextensions JSONSchemaPropsOrArray: a schema or an array of schemas
  kSchemaOrStringArray,  ///< apiextensions JSONSchemaPropsOrStringArray: a schema or an array of
                         ///< strings
  kValue,                ///< the value of the only field: a container in a container (see
                         ///< kValueSchema)
};

/// The table of a struct type. Tables are constant data with static storage duration, and refer to
/// each other by address.
struct TypeSchema {
  std::string_view name;     ///< the name in C++, for errors, such as "core.v1.PodSpec"
  std::string_view group;    ///< the group of a root kind; "" for core
  std::string_view version;  ///< the version of a root kind
  std::string_view kind;  ///< "" if the type is not a root kind, which has an apiVersion and a kind
  std::span<const FieldSchema> fields;  ///< ascending by tag
  JsonForm json_form = JsonForm::kObject;
  /// Create a value-initialised object on the heap and destroy it, for callers that know the type
  /// only at run time. Null for kValue.
  void* (*create)() = nullptr;
  void (*destroy)(void* object) = nullptr;
};

/// Returns the table of T. The generated code specialises it for each struct.
template <class T>
const TypeSchema& SchemaOf();

/// @cond
namespace internal {

template <class C>
struct ContainerTraits;

template <class E>
struct ContainerTraits<std::vector<E>> {
  using C = std::vector<E>;
  static constexpr ContainerOps kOps{
      [](const void* f) { return static_cast<const C*>(f)->size(); },
      [](const void* f, std::size_t i) -> const void* { return &(*static_cast<const C*>(f))[i]; },
      [](void* f) -> void* { return &static_cast<C*>(f)->emplace_back(); },
      nullptr,
      nullptr,
      nullptr,
      [](void* f) { static_cast<C*>(f)->clear(); },
      [](void* f, std::size_t count) { static_cast<C*>(f)->reserve(count); }};
};

template <class C>
inline constexpr ContainerOps kOptionalOps{
    [](const void* f) { return std::size_t{static_cast<const C*>(f)->has_value()}; },
    [](const void* f, std::size_t) -> const void* { return &**static_cast<const C*>(f); },
    [](void* f) -> void* { return &static_cast<C*>(f)->emplace(); },
    nullptr,
    nullptr,
    nullptr,
    [](void* f) { static_cast<C*>(f)->reset(); },
    nullptr};

template <class E>
struct ContainerTraits<std::optional<E>> {
  static constexpr const ContainerOps& kOps = kOptionalOps<std::optional<E>>;
};
template <class E>
struct ContainerTraits<apimachinery::Box<E>> {
  static constexpr const ContainerOps& kOps = kOptionalOps<apimachinery::Box<E>>;
};

template <class E>
struct ContainerTraits<std::map<std::string, E>> {
  using C = std::map<std::string, E>;
  static constexpr ContainerOps kOps{
      [](const void* f) { return static_cast<const C*>(f)->size(); },
      nullptr,
      nullptr,
      [](void* f, std::string&& key) -> void* {
        // Keys mostly come in ascending order.
        C& map = *static_cast<C*>(f);
        return &map.try_emplace(map.end(), std::move(key))->second;
      },
      [](const void* f, base::FunctionRef<void(const std::string&, const void*)> each) {
        for (const auto& [key, value] : *static_cast<const C*>(f)) {
          each(key, &value);
        }
      },
      [](const void* f, base::FunctionRef<void(const std::string&, const void*)> each) {
        const C& map = *static_cast<const C*>(f);
        for (auto entry = map.rbegin(); entry != map.rend(); ++entry) {
          each(entry->first, &entry->second);
        }
      },
      [](void* f) { static_cast<C*>(f)->clear(); },
      nullptr};
};

}  // namespace internal
/// @endcond

/// The functions of a container type. A table refers to them with an expression such as
/// &kContainerOps<std::vector<std::string>>.
template <class C>
inline constexpr const ContainerOps& kContainerOps = internal::ContainerTraits<C>::kOps;

/// The only field of a kValueSchema, which is the table of a container C that is the element of
/// another container, such as the list in a std::optional<std::vector<std::string>>. That field is
/// a kOptional of kMessage with the table kValueSchema<std::vector<std::string>, Kind::kString,
/// Cardinality::kRepeated>. kElement, kCardinality and kMessage describe C as the members of a
/// FieldSchema describe a field. Only custom resources have such fields, as protobuf has no form
/// for them.
template <class C, Kind kElement, Cardinality kCardinality, const TypeSchema* kMessage = nullptr>
inline constexpr FieldSchema kValueField[1] = {
    {{}, 0, kElement, kCardinality, kNoFlags, 0, kMessage, &kContainerOps<C>}};
/// The table of a container that is the element of another container; see kValueField.
template <class C, Kind kElement, Cardinality kCardinality, const TypeSchema* kMessage = nullptr>
inline constexpr TypeSchema kValueSchema{
    "value", {}, {}, {}, kValueField<C, kElement, kCardinality, kMessage>, JsonForm::kValue};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_SCHEMA_H_
