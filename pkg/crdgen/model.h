/// @file
/// What a CustomResourceDefinition becomes in C++.
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

/// The container around the elements of a field; codec::Cardinality has the same names.
enum class Shape : std::uint8_t { kPlain, kOptional, kRepeated, kMap };

/// One member of a struct.
struct Field {
  std::string member{};
  std::string json_name{};
  std::string description{};
  Shape shape = Shape::kPlain;
  /// The enumerator of codec::Kind, and the C++ type of one element.
  std::string kind{};
  std::string element{};
  /// The struct that an element is, when it is one of this definition's.
  const Struct* message = nullptr;
  /// The table of an element that is a struct of the library.
  std::string table{};
  /// Left out of JSON when it is empty.
  bool omit_empty = false;
  /// The values that an element may have, each with the name of its constant.
  std::vector<std::pair<std::string, std::string>> values{};

  /// The C++ type.
  std::string Type() const;
};

/// One generated struct.
struct Struct {
  std::string name{};
  std::string description{};
  std::vector<Field> fields{};
  /// How many fields there are, with those of the structs held by value; a list or a map counts
  /// for more than an aggregate may have.
  std::size_t size = 0;

  /// Small, and without lists and maps: its special members cost next to nothing to compile, and
  /// users may name its members in braces.
  bool IsAggregate() const;
};

/// One served version of a definition.
struct Version {
  std::string group{};
  std::string version{};
  std::string kind{};
  std::string plural{};
  bool is_namespaced = true;
  bool has_status = false;
  /// Each after those that it refers to; the object itself is the last.
  std::vector<std::unique_ptr<Struct>> structs{};
  /// All names that the generated code has in its namespace.
  std::set<std::string> names{};

  /// "Website of example.com/v1".
  std::string What() const;
};

/// The served versions of all CustomResourceDefinitions of apiextensions.k8s.io/v1 in YAML or JSON,
/// also of those that are items of a List. Documents of other kinds are passed over. Names become
/// C++ names as those of the built-in types. What is not required is optional, so that a zero value
/// can be told from none; what no struct can hold without loss stays JSON text; a list of
/// conditions with the fields of Kubernetes' own, of the same types and required alike, is one of
/// meta::v1::Condition. kMalformed for what is no such text, kInvalid for a definition that no type
/// can be made of (such as one whose objects keep fields that the schema does not name), and when
/// there is none.
apimachinery::Result<std::vector<Version>> ReadDefinitions(std::string_view text);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_MODEL_H_
