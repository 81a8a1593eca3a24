/// @file
/// Functions that check names as Kubernetes does.
#ifndef KUBEXX_APIMACHINERY_NAMES_H_
#define KUBEXX_APIMACHINERY_NAMES_H_

#include <string_view>

namespace kubexx::apimachinery {

/// Whether `text` is a label of RFC 1123: 1 to 63 characters of a-z, 0-9 and "-", where "-" is
/// neither the first nor the last. As validation.IsDNS1123Label.
bool IsDnsLabel(std::string_view text);

/// Whether `text` is at most 253 bytes long and consists of such labels, but of any length, with
/// dots between them. As validation.IsDNS1123Subdomain.
bool IsDnsSubdomain(std::string_view text);

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_NAMES_H_
