/// @file
/// What the cells of tables are made of: values of objects as kube-apiserver shows them.
#ifndef KUBEXX_APISERVER_RESOURCES_TABLE_CELLS_H_
#define KUBEXX_APISERVER_RESOURCES_TABLE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/column.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Where a value is in an object.
using CellPath = std::initializer_list<std::string_view>;

/// "5s", "3m20s", "4h", "12d": as kubectl shows ages. "<invalid>" for negative ones.
std::string HumanDuration(base::Duration duration);
/// How long ago a time was, with seconds or microseconds; "<unknown>" for what is no time.
std::string SinceText(std::string_view time);

/// 0 for what is no integer.
std::int64_t NumberAt(const codec::JsonTree& object, CellPath path);
/// False for what is no boolean.
bool FlagAt(const codec::JsonTree& object, CellPath path);
/// A string, or the JSON of a number or a boolean; nothing for null and what is not there.
std::optional<std::string> ValueAt(const codec::JsonTree& object, CellPath path);
/// How many elements or members there are.
std::size_t SizeAt(const codec::JsonTree& object, CellPath path);

/// `none` for an empty text.
std::string OrElse(std::string text, std::string_view none = "<none>");
/// The parts with the separator between them.
std::string JoinedBy(std::string_view separator, const std::vector<std::string>& parts);
/// The strings at `path`, "a,b".
std::string JoinedAt(const codec::JsonTree& object, CellPath path);
/// The member of each element of the list at `path`, "a,b".
std::string MembersAt(const codec::JsonTree& object, CellPath path, std::string_view member);
/// The first parts, and how many more there are: "a,b + 2 more...".
std::string FirstOf(std::vector<std::string> parts, std::size_t most,
                    std::string_view separator = ",");
/// The first ones of `count`, and how many more there are.
std::string WithMore(const std::vector<std::string>& shown, std::size_t count,
                     std::string_view separator = ",");

/// A map of labels, "a=b,c=d"; "<none>" when there are none.
std::string LabelsAt(const codec::JsonTree& object, CellPath path);
/// A label selector, "a=b,c in (d,e),!f"; "<none>" when it selects everything or nothing.
std::string SelectorAt(const codec::JsonTree& object, CellPath path);

/// The object's name.
codec::JsonTree NameCell(const codec::JsonTree& object);
/// How long ago it was made.
codec::JsonTree AgeCell(const codec::JsonTree& object);
/// When it was made.
codec::JsonTree CreatedCell(const codec::JsonTree& object);

/// Columns that many types have.
inline constexpr Column kNameColumn{"Name", "string", NameCell, 0, "name"};
/// See kNameColumn.
inline constexpr Column kAgeColumn{"Age", "string", AgeCell};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_RESOURCES_TABLE_CELLS_H_
