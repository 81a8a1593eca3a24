/// @file
/// CompareResourceVersions: tells which of two resourceVersions is newer.
#ifndef KUBEXX_APIMACHINERY_RESOURCE_VERSION_H_
#define KUBEXX_APIMACHINERY_RESOURCE_VERSION_H_

#include <compare>
#include <optional>
#include <string_view>

namespace kubexx::apimachinery {

/// Compares two resourceVersions of one resource, by length and then byte by byte. Kubernetes
/// guarantees since 1.35 that they are decimal numbers (apimachinery's util/resourceversion).
/// std::nullopt when one of them is not a decimal number or has a leading zero. "0" is older than
/// all others.
std::optional<std::strong_ordering> CompareResourceVersions(std::string_view a, std::string_view b);

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_RESOURCE_VERSION_H_
