/// @file
/// One version of a custom resource, as its definition has it.
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

/// A column of tables, as additionalPrinterColumns.
struct PrinterColumn {
  std::string name{};
  std::string type{};
  std::string format{};
  std::string description{};
  std::int64_t priority = 0;
  JsonPath path{};
};

/// A field that objects can be selected by, as selectableFields.
struct SelectableField {
  std::string label{};                 ///< what a field selector calls it: "spec.color"
  std::vector<std::string> members{};  ///< where it is
};

/// The paths of the scale subresource; empty when there is none.
struct ScalePaths {
  std::vector<std::string> spec_replicas{};
  std::vector<std::string> status_replicas{};
  std::vector<std::string> selector{};
};

/// The schemas of all versions of a definition, by their names: an object that was stored in
/// another version is read with the defaults of that one. Immutable, shared by the versions.
struct VersionSchemas {
  std::map<std::string, SchemaRef, std::less<>> by_version{};  ///< null: see CustomVersion::schema
  std::size_t digest = 0;  ///< of what the definition says of them
};

/// From a definition that has been accepted.
std::shared_ptr<const VersionSchemas> ReadSchemas(const codec::JsonTree& definition);

/// Immutable, shared by the requests that need it.
struct CustomVersion {
  codec::JsonTree source{};  ///< the element of spec.versions
  std::string storage_version{};
  SchemaRef schema{};  ///< null when it cannot be used: nothing is checked then
  std::shared_ptr<const VersionSchemas> schemas{};  ///< null: of no other version
  std::vector<PrinterColumn> columns{};
  std::vector<SelectableField> selectable{};
  ScalePaths scale{};
  /// spec.conversion of the definition, which its versions share; null for none
  std::shared_ptr<const codec::JsonTree> conversion{};
  std::shared_ptr<Converter> converter{};  ///< null: versions differ in their apiVersion only

  /// What tables have when the definition names no columns: the age.
  static std::vector<PrinterColumn> DefaultColumns();
};

/// A version that may be missing; equal when the definition says the same.
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

/// From an element of spec.versions of a definition that has been accepted. `schemas`: of that
/// definition; without them its own is read.
CustomVersionRef ReadVersion(const codec::JsonTree& version, std::string storage_version,
                             std::shared_ptr<const codec::JsonTree> conversion = {},
                             std::shared_ptr<Converter> converter = {},
                             std::shared_ptr<const VersionSchemas> schemas = {});

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_CUSTOM_VERSION_H_
