/// @file
/// Defaults that are a fixed value, independent of the other fields.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_PLAIN_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_PLAIN_DEFAULTS_H_

#include <span>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The default of one field.
struct PlainDefault {
  /// The member of the object that holds the field, such as "spec"; "" when the object itself holds
  /// it.
  std::string_view parent{};
  std::string_view member{};
  std::string_view json{};  ///< the value
};

/// Sets those fields of `object` that are missing, null, "" or an empty list.
void SetPlainDefaults(std::span<const PlainDefault> defaults, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_PLAIN_DEFAULTS_H_
