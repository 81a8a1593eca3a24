/// @file
/// Objects and the sets of their fields: what structured-merge-diff's typed values can do.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_TYPED_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_TYPED_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/managedfields/field_set.h"
#include "kubexx/apiserver/managedfields/type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields {

/// In what two objects differ. No field is in more than one of the sets.
struct Comparison {
  FieldSet removed{};
  FieldSet modified{};
  FieldSet added{};
};

/// Whether `value` may be applied: only members that the type has, values of their types, elements
/// of lists that can be told apart. kMalformed with the path of each fault, up to 64 KiB of them.
apimachinery::Result<void> Validate(const Type& type, const codec::JsonTree& value);

/// The leaves of a value, and the elements of its lists and members of its maps. Elements that
/// cannot be named are left out.
FieldSet FieldsOf(const Type& type, const codec::JsonTree& value);

/// `after` beside `before`.
Comparison Compare(const Type& type, const codec::JsonTree& before, const codec::JsonTree& after);

/// `value` with what `config` says; nothing is taken away. Elements of lists are in the order of
/// `config` when it has some of them. kMalformed for elements that cannot be told apart.
apimachinery::Result<codec::JsonTree> MergeConfig(const Type& type, const codec::JsonTree& value,
                                                  const codec::JsonTree& config);

/// `value` without these fields. Atomic lists and maps are taken out as a whole; what has nothing
/// left is null.
codec::JsonTree Without(const Type& type, const codec::JsonTree& value, const FieldSet& fields);

/// With the members that the type declares and that something is below of.
FieldSet WithNamedFields(const Type& type, const FieldSet& fields);

/// Makes the fields what they are now: those below what has become atomic since they were written
/// are replaced by it.
void MakeDeclared(const Type& type, FieldSet& fields);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_TYPED_H_
