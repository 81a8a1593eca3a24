#include "kubexx/apiserver/endpoints/response/table.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/response/partial_metadata.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

constexpr Column kPlainColumns[] = {kNameColumn, {"Created At", "date", CreatedCell}};
constexpr ColumnTable kPlainTable{.columns = kPlainColumns};

/// Returns the table of a built-in type.
const ColumnTable& BuiltinTableOf(const ResourceType& type) {
  return type.columns == nullptr ? kPlainTable : *type.columns;
}

/// Cells after so many bytes of text are empty. Each column could show the whole object, and nobody
/// reads that in a table.
constexpr std::size_t kMaxRowBytes = 4 << 20;
/// Cells are also empty after so many members and elements were looked at, because a definition may
/// have tens of thousands of columns, and an object as many members.
constexpr std::size_t kMaxRowLooks = 1 << 20;

/// Returns the cell of a column that a definition names, as kube-apiserver fills it.
JsonTree CustomCell(const schema::PrinterColumn& column, const JsonTree& object,
                    std::size_t& looks) {
  const std::vector<const JsonTree*> found = column.path.FindWithin(object, looks);
  if (found.empty()) {
    return nullptr;
  }
  const JsonTree& value = *found.front();
  if (column.type == "date") {
    return value.AsString() == nullptr ? JsonTree() : SinceText(*value.AsString());
  }
  if (column.type != "string") {
    const bool fits = column.type == "boolean"   ? value.AsBool().has_value()
                      : column.type == "integer" ? value.AsInt().has_value()
                                                 : value.AsDouble().has_value();
    return fits ? value : JsonTree();
  }
  std::string text;
  for (const JsonTree* const one : found) {
    text +=
        (text.empty() ? "" : " ") + (one->AsString() == nullptr ? one->ToJson() : *one->AsString());
  }
  return text;
}

JsonTree CellsOf(const ResourceType& type, const JsonTree& object) {
  JsonTree cells = JsonTree::Array();
  if (type.custom) {
    cells.Append(NameCell(object));
    std::size_t bytes = 0;
    std::size_t looks = kMaxRowLooks;
    for (const schema::PrinterColumn& column : type.custom->columns) {
      JsonTree cell = bytes > kMaxRowBytes ? JsonTree() : CustomCell(column, object, looks);
      bytes += cell.AsString() == nullptr ? 0 : cell.AsString()->size();
      cells.Append(std::move(cell));
    }
    return cells;
  }
  for (const Column& column : BuiltinTableOf(type).columns) {
    cells.Append(column.cell(object));
  }
  return cells;
}

JsonTree Definition(std::string_view name, std::string_view type, std::string_view format,
                    std::int64_t priority) {
  JsonTree definition = JsonTree::Object();
  definition["name"] = name;
  definition["type"] = type;
  definition["format"] = format;
  definition["description"] = "";
  definition["priority"] = priority;
  return definition;
}

JsonTree ColumnDefinitions(const ResourceType& type) {
  JsonTree columns = JsonTree::Array();
  if (!type.custom) {
    for (const Column& column : BuiltinTableOf(type).columns) {
      columns.Append(Definition(column.name, column.type, column.format, column.priority));
    }
    return columns;
  }
  columns.Append(Definition("Name", "string", "name", 0));
  for (const schema::PrinterColumn& column : type.custom->columns) {
    JsonTree definition = Definition(column.name, column.type, column.format, column.priority);
    definition["description"] = column.description;
    columns.Append(std::move(definition));
  }
  return columns;
}

}  // namespace

std::string TableHead(const ResourceType& type, const TableForm& form, std::string_view meta_json) {
  return R"({"kind":"Table","apiVersion":")" + std::string(form.api_version) + R"(","metadata":)" +
         std::string(meta_json) + R"(,"columnDefinitions":)" +
         (form.headers ? ColumnDefinitions(type).ToJson() : "null") + R"(,"rows":[)";
}

Result<std::string> TableRow(const ResourceType& type, const TableForm& form,
                             std::string_view json) {
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
  std::string shown = "null";
  if (form.row_object == RowObject::kObject) {
    shown = json;
  } else if (form.row_object == RowObject::kMetadata) {
    KX_ASSIGN_OR_RETURN(shown, PartialMetadataJson(json, form.api_version));
  }
  const ColumnTable& table = BuiltinTableOf(type);
  const std::string_view conditions =
      table.row_conditions == nullptr ? std::string_view() : table.row_conditions(object);
  return R"({"cells":)" + CellsOf(type, object).ToJson() +
         (conditions.empty() ? "" : R"(,"conditions":)" + std::string(conditions)) +
         R"(,"object":)" + shown + "}";
}

Result<std::string> TableOf(const ResourceType& type, const TableForm& form,
                            std::string_view json) {
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
  KX_ASSIGN_OR_RETURN(const std::string row, TableRow(type, form, json));
  JsonTree meta = JsonTree::Object();
  meta["resourceVersion"] = MetaString(object, "resourceVersion");
  return TableHead(type, form, meta.ToJson()) + row + "]}";
}

}  // namespace kubexx::apiserver
