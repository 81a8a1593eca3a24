/// @file
/// Names of container images.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_IMAGE_NAME_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_IMAGE_NAME_H_

#include <optional>
#include <string_view>

namespace kubexx::apiserver {

/// What a name such as "registry.example.com:5000/a/b:1@sha256:..." has behind the repository.
struct ImageName {
  std::string_view tag{};     ///< "latest" where the name has neither a tag nor a digest
  std::string_view digest{};  ///< "" for none
};

/// Takes an image's name apart; nothing for what is none. `image` must outlive the parts. As
/// distribution's reference.ParseNormalizedNamed with kubelet's "latest".
std::optional<ImageName> ParseImageName(std::string_view image);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_IMAGE_NAME_H_
