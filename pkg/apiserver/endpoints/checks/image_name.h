/// @file
/// Names of container images.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_IMAGE_NAME_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_IMAGE_NAME_H_

#include <optional>
#include <string_view>

namespace kubexx::apiserver {

/// The parts of a name such as "registry.example.com:5000/a/b:1@sha256:..." after the repository.
struct ImageName {
  std::string_view tag{};     ///< "latest" when the name has neither a tag nor a digest
  std::string_view digest{};  ///< "" when the name has none
};

/// Parses the name of an image; std::nullopt when it is invalid. `image` must outlive the result.
/// As distribution's reference.ParseNormalizedNamed, with kubelet's default tag "latest".
std::optional<ImageName> ParseImageName(std::string_view image);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_IMAGE_NAME_H_
