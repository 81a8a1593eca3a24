/// @file
/// Selection: which objects of one type a list returns.
#ifndef KUBEXX_APIMACHINERY_SELECTION_H_
#define KUBEXX_APIMACHINERY_SELECTION_H_

#include <string>

#include "kubexx/apimachinery/fields.h"
#include "kubexx/apimachinery/labels.h"

namespace kubexx::apimachinery {

/// Selects the objects of one type that satisfy all of its parts; an empty part selects everything.
/// A value type. Modelled on controller-runtime's InNamespace, MatchingLabelsSelector and
/// MatchingFieldsSelector.
struct Selection {
  /// The objects of this namespace; empty: of all namespaces.
  std::string namespace_{};
  LabelSelector labels{};
  /// For a cache, a field is "metadata.name", "metadata.namespace", or the name of an index of the
  /// informer (see cache::IndexField). An object has a field's value when the index's function
  /// returns it; an object for which the function returns nothing has the value "".
  FieldSelector fields{};

  /// The namespace whose objects are selected, by `namespace_` or by a field selector that names
  /// one; "" when they may be in several. When both name one, it is `namespace_`.
  std::string SelectedNamespace() const {
    return namespace_.empty() ? fields.Exactly("metadata.namespace") : namespace_;
  }
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_SELECTION_H_
