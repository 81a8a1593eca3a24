/// @file
/// Reads and changes the metadata of objects that are JSON trees.
#ifndef KUBEXX_APISERVER_OBJECT_METADATA_H_
#define KUBEXX_APISERVER_OBJECT_METADATA_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The string at `path`; "" when there is none.
std::string StringAt(const codec::JsonTree& object, std::initializer_list<std::string_view> path);

/// The strings in the list `member`. Leaves out elements that are not strings.
std::vector<std::string> StringsAt(const codec::JsonTree& object, std::string_view member);

/// The elements of the list at `path`; empty when there is no list. Valid as long as `object`.
std::span<const codec::JsonTree> ElementsAt(const codec::JsonTree& object,
                                            std::initializer_list<std::string_view> path);

/// The string metadata.`field`.
std::string MetaString(const codec::JsonTree& object, std::string_view field);

/// metadata.generation; 0 when there is none.
std::int64_t Generation(const codec::JsonTree& object);

/// The namespace and the name of the object.
apimachinery::ObjectKey KeyOf(const codec::JsonTree& object);

/// The members of `object` whose values are strings; empty when `object` is null.
apimachinery::LabelMap LabelMapOf(const codec::JsonTree* object);
/// The map metadata.`field`, such as the labels. Leaves out values that are not strings.
apimachinery::LabelMap MetaMap(const codec::JsonTree& object, std::string_view field);

/// Sets metadata.`field`, or removes it when `value` is empty.
void SetMeta(codec::JsonTree& object, std::string_view field, std::string_view value);

/// The strings in metadata.finalizers.
std::vector<std::string> FinalizersOf(const codec::JsonTree& object);
/// Replaces metadata.finalizers.
void SetFinalizers(codec::JsonTree& object, const std::vector<std::string>& names);
/// Whether metadata.finalizers has elements.
bool HasFinalizers(const codec::JsonTree& object);

/// Whether the object is being deleted: metadata.deletionTimestamp is set.
bool IsDeleting(const codec::JsonTree& object);

/// Whether the objects are equal except for metadata and status. When they are not, the change
/// increments metadata.generation.
bool SameSpec(const codec::JsonTree& a, const codec::JsonTree& b);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_METADATA_H_
