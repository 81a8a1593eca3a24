/// @file
/// What Kubernetes takes for names.
#ifndef KUBEXX_APIMACHINERY_NAMES_H_
#define KUBEXX_APIMACHINERY_NAMES_H_

#include <string_view>

namespace kubexx::apimachinery {

/// A label of RFC 1123: 1 to 63 of a-z, 0-9 and "-", which stands neither first nor last. As
/// validation.IsDNS1123Label.
bool IsDnsLabel(std::string_view text);

/// Up to 253 bytes of such labels with dots between them, of any length each. As
/// validation.IsDNS1123Subdomain.
bool IsDnsSubdomain(std::string_view text);

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_NAMES_H_
