/// @file
/// One version of a custom resource, as its CustomResourceDefinition describes it.
#ifndef KUBEXX_APISERVER_SCHEMA_CUSTOM_VERSION_H_
#define KUBEXX_APISERVER_SCHEMA_CUSTOM_VERSION_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/converter.h"
#include "kubexx/apiserver/schema/json_path.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// A column of the tables that show objects; an element of additionalPrinterColumns.
struct PrinterColumn {
  std::string name{};
  std::string type{};
  std::string format{};
  std::string description{};
  std::int64_t priority = 0;
  JsonPath path{};
};

/// A field by which objects can be selected; an element of selectableFields.
struct SelectableField {
  std::string label{};                 ///< its name in field selectors: "spec.color"
  std::vector<std::string> members{};  ///< the path of the field in an object
};

/// The paths of the scale subresource; empty when the version has no such subresource.
struct ScalePaths {
  std::vector<std::string> spec_replicas{};
  std::vector<std::string> status_replicas{};
  std::vector<std::string> selector{};
};

/// The schemas of all versions of a definition by the names of the versions. They are needed
/// because a stored object of another version is read with the defaults of that version. Immutable;
/// the versions share it.
struct VersionSchemas {
  std::map<std::string, SchemaRef, std::less<>> by_version{};  ///< null as in CustomVersion::schema
  std::size_t digest = 0;  ///< hash of the versions in the definition
};

/// Reads the schemas of a definition that has been accepted.
std::shared_ptr<const VersionSchemas> ReadSchemas(const codec::JsonTree& definition);

/// A version of a custom resource. Immutable; the requests that need it share it.
struct CustomVersion {
  codec::JsonTree source{};  ///< the element of spec.versions
  std::string storage_version{};
  SchemaRef schema{};  ///< null when it cannot be used; objects are not checked then
  /// null: there are no schemas of other versions.
  std::shared_ptr<const VersionSchemas> schemas{};
  std::vector<PrinterColumn> columns{};
  std::vector<SelectableField> selectable{};
  ScalePaths scale{};
  /// spec.conversion of the definition, which its versions share; null when there is none.
  std::shared_ptr<const codec::JsonTree> conversion{};
  std::shared_ptr<Converter> converter{};  ///< null when versions differ only in their apiVersion

  /// The columns of tables when the definition names none: the age.
  static std::vector<PrinterColumn> DefaultColumns();
};

/// A reference to a version, which may be null. Two references are equal when the definition
/// describes the versions in the same way.
class CustomVersionRef {
 public:
  CustomVersionRef() = default;
  explicit CustomVersionRef(std::shared_ptr<const CustomVersion> version)
      : version_(std::move(version)) {}
  const CustomVersion* get() const { return version_.get(); }
  const CustomVersion* operator->() const { return version_.get(); }
  explicit operator bool() const { return version_ != nullptr; }
  bool operator==(const CustomVersionRef& other) const;

 private:
  std::shared_ptr<const CustomVersion> version_{};
};

/// Reads an element of spec.versions of a definition that has been accepted. `schemas` are those of
/// the definition; when it is null, only the version's own schema is read.
CustomVersionRef ReadVersion(const codec::JsonTree& version, std::string storage_version,
                             std::shared_ptr<const codec::JsonTree> conversion = {},
                             std::shared_ptr<Converter> converter = {},
                             std::shared_ptr<const VersionSchemas> schemas = {});

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_CUSTOM_VERSION_H_
