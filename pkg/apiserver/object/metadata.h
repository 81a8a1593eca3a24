/// @file
/// Reading and changing the metadata of objects that are JSON trees.
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

/// The string at `path`, "" when there is none.
std::string StringAt(const codec::JsonTree& object, std::initializer_list<std::string_view> path);

/// The strings of the list `member`; what is no string is left out.
std::vector<std::string> StringsAt(const codec::JsonTree& object, std::string_view member);

/// The elements of the list at `path`, none when there is no list. Valid while `object` is.
std::span<const codec::JsonTree> ElementsAt(const codec::JsonTree& object,
                                            std::initializer_list<std::string_view> path);

/// The string metadata.`field`.
std::string MetaString(const codec::JsonTree& object, std::string_view field);

/// metadata.generation, 0 when there is none.
std::int64_t Generation(const codec::JsonTree& object);

/// Namespace and name.
apimachinery::ObjectKey KeyOf(const codec::JsonTree& object);

/// The strings among the members of `object`; none of null.
apimachinery::LabelMap LabelMapOf(const codec::JsonTree* object);
/// Labels, or another map of strings in the metadata; what is no string is left out.
apimachinery::LabelMap MetaMap(const codec::JsonTree& object, std::string_view field);

/// Sets metadata.`field`, or takes it out when `value` is empty.
void SetMeta(codec::JsonTree& object, std::string_view field, std::string_view value);

/// The strings in metadata.finalizers.
std::vector<std::string> FinalizersOf(const codec::JsonTree& object);
/// Replaces them.
void SetFinalizers(codec::JsonTree& object, const std::vector<std::string>& names);
/// Whether metadata.finalizers has elements.
bool HasFinalizers(const codec::JsonTree& object);

/// Whether the object is waiting for its finalizers.
bool IsDeleting(const codec::JsonTree& object);

/// Whether the objects are alike but for metadata and status: a change that counts as a new
/// generation.
bool SameSpec(const codec::JsonTree& a, const codec::JsonTree& b);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_METADATA_H_
