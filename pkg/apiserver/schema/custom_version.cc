#include "kubexx/apiserver/schema/custom_version.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::apiserver::schema {
namespace {

using codec::JsonTree;

std::vector<std::string> MembersAt(const JsonTree& scale, std::string_view field) {
  const auto path = JsonPath::Parse(scale.TextAt(field));
  auto members = path ? path->Members() : std::nullopt;
  return members ? std::move(*members) : std::vector<std::string>();
}

std::vector<PrinterColumn> ColumnsOf(const JsonTree& list) {
  std::vector<PrinterColumn> columns;
  for (const JsonTree& element : list.elements()) {
    PrinterColumn column;
    column.name = element.TextAt("name");
    column.type = element.TextAt("type");
    column.format = element.TextAt("format");
    column.description = element.TextAt("description");
    const JsonTree* const priority = element.Find("priority");
    column.priority = priority == nullptr ? 0 : priority->AsInt().value_or(0);
    if (auto path = JsonPath::Parse(element.TextAt("jsonPath"))) {
      column.path = std::move(*path);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<SelectableField> SelectableOf(const JsonTree& list) {
  std::vector<SelectableField> fields;
  for (const JsonTree& element : list.elements()) {
    std::string_view label = element.TextAt("jsonPath");
    const auto path = JsonPath::Parse(label);
    if (auto members = path ? path->Members() : std::nullopt) {
      label.remove_prefix(label.starts_with('.') ? 1 : 0);
      fields.push_back({.label = std::string(label), .members = std::move(*members)});
    }
  }
  return fields;
}

/// The versions of one definition share the conversion.
bool SameConversion(const std::shared_ptr<const JsonTree>& a,
                    const std::shared_ptr<const JsonTree>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

SchemaRef SchemaOf(const JsonTree& version) {
  const JsonTree* const tree = version.At({"schema", "openAPIV3Schema"});
  auto schema = tree == nullptr ? apimachinery::Result<SchemaRef>(SchemaRef()) : ParseSchema(*tree);
  return schema ? std::move(*schema) : SchemaRef();
}

std::size_t DigestOf(const std::shared_ptr<const VersionSchemas>& schemas) {
  return schemas == nullptr ? 0 : schemas->digest;
}

}  // namespace

std::shared_ptr<const VersionSchemas> ReadSchemas(const JsonTree& definition) {
  auto schemas = std::make_shared<VersionSchemas>();
  const JsonTree* const versions = definition.At({"spec", "versions"});
  for (const JsonTree& version :
       versions == nullptr ? std::span<const JsonTree>() : versions->elements()) {
    const std::string_view name = version.TextAt("name");
    schemas->by_version.emplace(name, SchemaOf(version));
    const JsonTree* const said = version.Find("schema");
    const std::string own = std::to_string(schemas->digest) + std::string(name) + " " +
                            (said == nullptr ? "" : said->ToJson());
    schemas->digest = std::hash<std::string_view>()(own);
  }
  return schemas;
}

std::vector<PrinterColumn> CustomVersion::DefaultColumns() {
  PrinterColumn age;
  age.name = "Age";
  age.type = "date";
  age.path = *JsonPath::Parse(".metadata.creationTimestamp");
  return {age};
}

bool CustomVersionRef::operator==(const CustomVersionRef& other) const {
  if (version_ == nullptr || other.version_ == nullptr || version_ == other.version_) {
    return version_ == other.version_;
  }
  return version_->storage_version == other.version_->storage_version &&
         version_->source == other.version_->source &&
         DigestOf(version_->schemas) == DigestOf(other.version_->schemas) &&
         SameConversion(version_->conversion, other.version_->conversion);
}

CustomVersionRef ReadVersion(const JsonTree& version, std::string storage_version,
                             std::shared_ptr<const JsonTree> conversion,
                             std::shared_ptr<Converter> converter,
                             std::shared_ptr<const VersionSchemas> schemas) {
  auto result = std::make_shared<CustomVersion>();
  result->source = version;
  result->storage_version = std::move(storage_version);
  result->conversion = std::move(conversion);
  result->converter = std::move(converter);
  if (schemas == nullptr) {
    result->schema = SchemaOf(version);
  } else if (const auto own = schemas->by_version.find(version.TextAt("name"));
             own != schemas->by_version.end()) {
    result->schema = own->second;
  }
  result->schemas = std::move(schemas);
  const JsonTree* const columns = version.Find("additionalPrinterColumns");
  result->columns = columns != nullptr && columns->size() > 0 ? ColumnsOf(*columns)
                                                              : CustomVersion::DefaultColumns();
  if (const JsonTree* const fields = version.Find("selectableFields")) {
    result->selectable = SelectableOf(*fields);
  }
  if (const JsonTree* const scale = version.At({"subresources", "scale"})) {
    result->scale = {.spec_replicas = MembersAt(*scale, "specReplicasPath"),
                     .status_replicas = MembersAt(*scale, "statusReplicasPath"),
                     .selector = MembersAt(*scale, "labelSelectorPath")};
  }
  return CustomVersionRef(std::move(result));
}

}  // namespace kubexx::apiserver::schema
