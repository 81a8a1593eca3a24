/// @file
/// Checks of numbers, and of numbers that may be percentages.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_COUNTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_COUNTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds a cause when the number `member` is below `least`. The member may be missing. `path` is
/// that of the object.
void CheckAtLeast(const codec::JsonTree& object, std::string_view member, std::int64_t least,
                  const std::string& path, FieldCauses& causes);

/// The same for a number that must not be negative.
void CheckNotNegative(const codec::JsonTree& object, std::string_view member,
                      const std::string& path, FieldCauses& causes);

/// Adds what is wrong with a value that must be a non-negative number or a percentage such as
/// "25%", or missing. As apps validation's ValidatePositiveIntOrPercent.
void CheckCountOrPercent(const codec::JsonTree* value, const std::string& field,
                         FieldCauses& causes);

/// Adds a cause when a percentage is above 100.
void CheckNotAboveAll(const codec::JsonTree* value, const std::string& field, FieldCauses& causes);

/// Whether the value is 0, 0%, missing, or neither a number nor a percentage. A number in quotes
/// counts as a number, although other checks refuse it.
bool IsNone(const codec::JsonTree* value);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_COUNTS_H_
