/// @file
/// Helpers for the cells of tables, which show values of objects as kube-apiserver does.
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

/// The path of a value in an object.
using CellPath = std::initializer_list<std::string_view>;

/// A duration as kubectl shows ages: "5s", "3m20s", "4h", "12d". "<invalid>" for a negative one.
std::string HumanDuration(base::Duration duration);
/// How long ago `time` was. It may have seconds or microseconds. "<unknown>" when it is not a time.
std::string SinceText(std::string_view time);

/// The integer at `path`; 0 when there is none.
std::int64_t NumberAt(const codec::JsonTree& object, CellPath path);
/// The boolean at `path`; false when there is none.
bool FlagAt(const codec::JsonTree& object, CellPath path);
/// The string at `path`, or the JSON of a number or a boolean; std::nullopt when it is null or
/// missing.
std::optional<std::string> ValueAt(const codec::JsonTree& object, CellPath path);
/// How many elements or members the value at `path` has.
std::size_t SizeAt(const codec::JsonTree& object, CellPath path);

/// Returns `text`, or `none` when it is empty.
std::string OrElse(std::string text, std::string_view none = "<none>");
/// The strings of the list at `path` as "a,b".
std::string JoinedAt(const codec::JsonTree& object, CellPath path);
/// The member of each element of the list at `path` as "a,b".
std::string MembersAt(const codec::JsonTree& object, CellPath path, std::string_view member);
/// The first `most` parts and the number of the others: "a,b + 2 more...".
std::string FirstOf(std::vector<std::string> parts, std::size_t most,
                    std::string_view separator = ",");
/// The same for `shown`, which are the first of `count` parts.
std::string WithMore(const std::vector<std::string>& shown, std::size_t count,
                     std::string_view separator = ",");

/// A map of labels as "a=b,c=d"; "<none>" when there are none.
std::string LabelsAt(const codec::JsonTree& object, CellPath path);
/// A label selector, with matchLabels and matchExpressions, as "a=b,c in (d,e),!f". "" when it has
/// no requirements.
std::string SelectorText(const codec::JsonTree& selector);
/// The same of the selector at the path; "<none>" when it has no requirements or there is none.
std::string SelectorAt(const codec::JsonTree& object, CellPath path);

/// The object's name.
codec::JsonTree NameCell(const codec::JsonTree& object);
/// How long ago the object was created.
codec::JsonTree AgeCell(const codec::JsonTree& object);
/// When the object was created.
codec::JsonTree CreatedCell(const codec::JsonTree& object);

/// The column of the name, which many types have.
inline constexpr Column kNameColumn{"Name", "string", NameCell, 0, "name"};
/// The column of the age, which many types have.
inline constexpr Column kAgeColumn{"Age", "string", AgeCell};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_RESOURCES_TABLE_CELLS_H_
