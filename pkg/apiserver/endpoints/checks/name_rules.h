/// @file
/// What the names of objects have to be, by kind of name.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_NAME_RULES_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_NAME_RULES_H_

#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// What is wrong with a name that has to be a DNS subdomain, which most names have to; "" for a
/// valid one.
std::string SubdomainNameProblem(std::string_view name);

/// The same for a name that is a label of other objects, too: a DNS subdomain of at most 63
/// characters.
std::string ShortNameProblem(std::string_view name);

/// The same for a name that has to be a DNS label.
std::string LabelNameProblem(std::string_view name);

/// The same for a name that may be any segment of a path in a URL.
std::string SegmentNameProblem(std::string_view name);

/// The same for a name that has to be an IP address as Go writes it. As networking validation's
/// ValidateIPAddressName.
std::string AddressNameProblem(std::string_view name);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_NAME_RULES_H_
