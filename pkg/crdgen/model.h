/// @file
/// The model of the C++ code for a custom resource, which is made of a CustomResourceDefinition, or
/// of a header (see header_model.h).
#ifndef KUBEXX_CRDGEN_MODEL_H_
#define KUBEXX_CRDGEN_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::crdgen {

struct Struct;

/// The container around the elements of a field. codec::Cardinality has the same names.
enum class Shape : std::uint8_t { kPlain, kOptional, kRepeated, kMap };

/// One member of a struct.
struct Field {
  std::string member{};
  std::string json_name{};
  std::string description{};
  Shape shape = Shape::kPlain;
  /// Whether the list or map is inside a std::optional, because it may be missing or null, and
  /// neither means the same as an empty one.
  bool is_optional_container = false;
  /// Whether the field may be null as well as absent, and the member keeps the difference. JSON
  /// text contains null as a value, so one std::optional is enough for it; every other type has a
  /// std::optional in a std::optional.
  bool keeps_null = false;
  /// The enumerator of codec::Kind, and the C++ type of one element.
  std::string kind{};
  std::string element{};
  /// The struct of an element, if it is a struct of this definition.
  const Struct* message = nullptr;
  /// The table of an element, if it is a struct of the library.
  std::string table{};
  /// Of a struct that may be missing: whether it is in a std::optional, and not in a Box.
  bool is_std_optional = false;
  /// Whether JSON omits the field when it is empty.
  bool omit_empty = false;
  /// The allowed values of an element, each with the name of its constant.
  std::vector<std::pair<std::string, std::string>> values{};

  /// The C++ type.
  std::string Type() const;
  /// The C++ types of the containers, from the one around the elements to that of the field, which
  /// is the last; empty for kPlain.
  std::vector<std::string> Containers() const;
};

/// Returns the first field of each kind: its metadata.
Field MetadataField();

/// One struct.
struct Struct {
  std::string name{};
  std::string description{};
  std::vector<Field> fields{};
  /// The number of fields, including those of the structs that are held by value. A list or a map
  /// adds more than the number of fields that an aggregate may have, so that a struct with one is
  /// no aggregate.
  std::size_t size = 0;

  /// Whether the struct is small and has no lists and maps. Its special members are then cheap to
  /// compile, and users may initialise its members by name in braces.
  bool IsAggregate() const;
};

/// One version of a kind.
struct Version {
  std::string group{};
  std::string version{};
  std::string kind{};
  std::string plural{};
  bool is_namespaced = true;
  bool has_status = false;
  /// The header that declares the structs, as an #include names it; empty if they are generated.
  std::string header{};
  /// The structs in an order in which each follows those that it refers to; the object itself is
  /// the last.
  std::vector<std::unique_ptr<Struct>> structs{};
  /// All names that the generated code declares in its namespace.
  std::set<std::string> names{};

  /// Returns for example "Website of example.com/v1".
  std::string What() const;
};

/// Returns the served versions of all CustomResourceDefinitions of apiextensions.k8s.io/v1 in YAML
/// or JSON, including the items of a List; ignores documents of other kinds. Names become C++ names
/// in the same way as those of the built-in types. A field that is not required becomes optional,
/// so that a zero value differs from none, and an empty list or map, too. So does one that is
/// nullable; one that may be absent or null becomes an optional of an optional. So an object that
/// is read and written again stays the same. A value that no struct can hold without loss stays
/// JSON text. A list of conditions becomes one of meta::v1::Condition if its fields have the names
/// and types of Kubernetes' own and the same fields are required. kMalformed for text that is not
/// YAML or JSON; kInvalid for a definition that cannot become a type, such as one whose objects
/// keep fields that the schema does not name, and when there is no definition.
apimachinery::Result<std::vector<Version>> ReadDefinitions(std::string_view text);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_MODEL_H_
