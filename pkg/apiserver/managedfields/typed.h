/// @file
/// Operations on objects and the sets of their fields, as those of structured-merge-diff's typed
/// values.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_TYPED_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_TYPED_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/managedfields/field_set.h"
#include "kubexx/apiserver/managedfields/type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields {

/// The differences between two objects. No field is in more than one of the sets.
struct Comparison {
  FieldSet removed{};
  FieldSet modified{};
  FieldSet added{};
};

/// Checks whether `value` may be applied: it has only members of the type, with values of the right
/// types, and elements of lists can be told apart. Returns kMalformed with the path of each fault,
/// up to 64 KiB of text.
apimachinery::Result<void> Validate(const Type& type, const codec::JsonTree& value);

/// The set of a value's fields: its leaves, the elements of its lists and the members of its maps.
/// Leaves out elements that have no path element.
FieldSet FieldsOf(const Type& type, const codec::JsonTree& value);

/// Compares `after` with `before`.
Comparison Compare(const Type& type, const codec::JsonTree& before, const codec::JsonTree& after);

/// Merges `config` into `value` and removes nothing. When `config` has some elements of a list,
/// they get the order of `config`. Returns kMalformed for elements that cannot be told apart.
apimachinery::Result<codec::JsonTree> MergeConfig(const Type& type, const codec::JsonTree& value,
                                                  const codec::JsonTree& config);

/// Returns `value` without `fields`. Removes atomic lists and maps as a whole. A value of which
/// nothing is left becomes null.
codec::JsonTree Without(const Type& type, const codec::JsonTree& value, const FieldSet& fields);

/// Returns `fields` together with the declared members that have a path of `fields` below them.
FieldSet WithNamedFields(const Type& type, const FieldSet& fields);

/// Adjusts `fields`, which may have been written with an older schema, to the type: paths below a
/// list or map that is atomic now are replaced by the path of that list or map.
void MakeDeclared(const Type& type, FieldSet& fields);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_TYPED_H_
