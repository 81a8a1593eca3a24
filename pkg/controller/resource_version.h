/// @file
/// Which of two resource versions is newer.
#ifndef KUBEXX_CONTROLLER_RESOURCE_VERSION_H_
#define KUBEXX_CONTROLLER_RESOURCE_VERSION_H_

#include <compare>
#include <optional>
#include <string_view>

namespace kubexx::controller {

/// Compares versions of one resource: by length, then byte by byte, as Kubernetes guarantees since
/// 1.35 that they are decimal numbers (apimachinery's util/resourceversion). Nothing when one of
/// them is no such number, or has a leading zero. "0" is older than all others.
std::optional<std::strong_ordering> CompareResourceVersions(std::string_view a, std::string_view b);

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_RESOURCE_VERSION_H_
