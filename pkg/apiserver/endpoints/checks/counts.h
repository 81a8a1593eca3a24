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

/// Adds that the number `member`, which may be missing, is below `least`. `path` is the object's.
void CheckAtLeast(const codec::JsonTree& object, std::string_view member, std::int64_t least,
                  const std::string& path, FieldCauses& causes);

/// The same of a number that must not be negative.
void CheckNotNegative(const codec::JsonTree& object, std::string_view member,
                      const std::string& path, FieldCauses& causes);

/// Adds what is wrong with a number, which must not be negative, or a percentage such as "25%". It
/// may be missing. As apps validation's ValidatePositiveIntOrPercent.
void CheckCountOrPercent(const codec::JsonTree* value, const std::string& field,
                         FieldCauses& causes);

/// Adds that a percentage is above 100.
void CheckNotAboveAll(const codec::JsonTree* value, const std::string& field, FieldCauses& causes);

/// Whether it is 0, 0%, missing, or neither a number nor a percentage. A number in quotes counts,
/// though it is refused.
bool IsNone(const codec::JsonTree* value);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_COUNTS_H_
