/// @file
/// The difference of two objects as a patch.
#ifndef KUBEXX_CONTROLLER_MERGE_PATCH_H_
#define KUBEXX_CONTROLLER_MERGE_PATCH_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::controller {

/// The JSON merge patch (RFC 7386) that makes the JSON object `from` into `to`: "{}" when they are
/// alike. Lists are replaced as a whole. Members of `to` that are null count as absent. kMalformed
/// when one of them is no JSON object.
apimachinery::Result<std::string> MergePatchBetween(std::string_view from, std::string_view to);

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_MERGE_PATCH_H_
