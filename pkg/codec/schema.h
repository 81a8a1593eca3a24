/// @file
/// Schema tables: what the codecs know of a type. hack/codegen writes one TypeSchema per struct of
/// the built-in API, kubexx-codegen those of a custom resource. Two codecs (protobuf_*.cc,
/// json_*.cc) work over the same table, so that adding a type adds data and no code.
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

/// What one element of a field is, and with it its C++ type.
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

/// How many elements a field has, and with it the container around the element's C++ type E.
enum class Cardinality : std::uint8_t {
  kPlain,     ///< E itself; always on the protobuf wire, even when zero, as Go's value fields
  kOptional,  ///< Go's pointer: Box<E> when E is a message, std::optional<E> otherwise; on the wire
              ///< only when set
  kRepeated,  ///< std::vector<E>
  kMap,  ///< std::map<std::string, E>: repeated message {string key = 1; E value = 2}, ascending by
         ///< key
};

/// How a field behaves in JSON.
enum FieldFlags : std::uint8_t {
  kNoFlags = 0,
  kOmitEmpty = 1,  ///< Go's omitempty: left out when false, 0, "", null, or an empty list or map;
                   ///< never for structs
  kOmitZero = 2,   ///< Go's omitzero: left out when the value is its type's zero value
  kInline = 4,  ///< the fields of this message stand in the object around it; protobuf has it as a
                ///< message still
  kKeepNull = 8,      ///< kOptional: null is a value, which the element takes, and not absence
  kEscapedName = 16,  ///< `name` has characters that JSON escapes
};

struct TypeSchema;

/// Access to the elements of one field, whatever its container. `field` is the address of the
/// member.
struct ContainerOps {
  /// kOptional: 0 or 1; kRepeated, kMap: the number of elements. Null for kPlain, whose element is
  /// `field` itself.
  std::size_t (*size)(const void* field);
  /// kOptional, kRepeated: the element at `index` (< size).
  const void* (*at)(const void* field, std::size_t index);
  /// kOptional: a new value in place of the old, kRepeated: a new element at the end;
  /// value-initialised.
  void* (*append)(void* field);
  /// kMap: the element at `key`, inserted when new.
  void* (*slot)(void* field, std::string&& key);
  /// kMap: calls `each` for every entry, ascending by key.
  void (*for_each)(const void* field,
                   base::FunctionRef<void(const std::string&, const void*)> each);
  /// kMap: the same, descending by key.
  void (*for_each_reverse)(const void* field,
                           base::FunctionRef<void(const std::string&, const void*)> each);
  /// Makes the container empty.
  void (*clear)(void* field);
  /// kRepeated: makes room for `count` elements. Null otherwise.
  void (*reserve)(void* field, std::size_t count);
};

/// One field of a type.
struct FieldSchema {
  std::string_view name;  ///< JSON name; also the protobuf name
  std::uint32_t tag = 0;  ///< protobuf field number; 0 when the field is not in protobuf
  Kind kind = Kind::kString;
  Cardinality cardinality = Cardinality::kPlain;
  std::uint8_t flags = kNoFlags;
  std::uint32_t offset = 0;             ///< of the member within the struct
  const TypeSchema* message = nullptr;  ///< for kMessage
  const ContainerOps* ops = nullptr;    ///< null for kPlain
};

/// Types whose JSON is not an object of their fields.
enum class JsonForm : std::uint8_t {
  kObject,
  kBareObject,     ///< a root kind without "kind" and "apiVersion" of its own: meta/v1 WatchEvent
  kSchemaOrBool,   ///< apiextensions JSONSchemaPropsOrBool: true, false or the schema
  kSchemaOrArray,  ///< apiextensions JSONSchemaPropsOrArray: a schema or an array of schemas
  kSchemaOrStringArray,  ///< apiextensions JSONSchemaPropsOrStringArray: a schema or an array of
                         ///< strings
  kValue,                ///< the value of the only field: a container in a container, kValueSchema
};

/// One struct type. Tables are constant data with static storage duration and refer to each other
/// by address.
struct TypeSchema {
  std::string_view name;     ///< C++ spelling for errors, for example "core.v1.PodSpec"
  std::string_view group;    ///< of a root kind; "" for core
  std::string_view version;  ///< of a root kind
  std::string_view
      kind;  ///< "" when the type is not a root kind (has no apiVersion and kind of its own)
  std::span<const FieldSchema> fields;  ///< ascending by tag
  JsonForm json_form = JsonForm::kObject;
  /// A value-initialised object on the heap and its destruction, for callers that know the type at
  /// run time only. Null for kValue.
  void* (*create)() = nullptr;
  void (*destroy)(void* object) = nullptr;
};

/// The table of T. Specialised by the generated code beside each struct.
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
        // Keys come in ascending order, mostly.
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

/// The ops of a container type: &kContainerOps<std::vector<std::string>>.
template <class C>
inline constexpr const ContainerOps& kContainerOps = internal::ContainerTraits<C>::kOps;

/// The table of a container C that is the element of another one, such as the list in a
/// std::optional<std::vector<std::string>>: that field is a kOptional of kMessage with the table
/// kValueSchema<std::vector<std::string>, Kind::kString, Cardinality::kRepeated>. kElement,
/// kCardinality and kMessage tell of C what a FieldSchema tells of a field. In custom resources
/// only: there is no protobuf for it.
template <class C, Kind kElement, Cardinality kCardinality, const TypeSchema* kMessage = nullptr>
inline constexpr FieldSchema kValueField[1] = {
    {{}, 0, kElement, kCardinality, kNoFlags, 0, kMessage, &kContainerOps<C>}};
/// The table itself, whose only field is kValueField.
template <class C, Kind kElement, Cardinality kCardinality, const TypeSchema* kMessage = nullptr>
inline constexpr TypeSchema kValueSchema{
    "value", {}, {}, {}, kValueField<C, kElement, kCardinality, kMessage>, JsonForm::kValue};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_SCHEMA_H_
