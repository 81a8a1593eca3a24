/// @file
/// C++ names for what JSON and YAML name otherwise.
#ifndef KUBEXX_CRDGEN_NAMES_H_
#define KUBEXX_CRDGEN_NAMES_H_

#include <string>
#include <string_view>

namespace kubexx::crdgen {

/// A part of a type's name: "max-surge" and "maxSurge" give MaxSurge.
std::string CamelCase(std::string_view name);

/// A member's name: "clusterIPs" gives cluster_ips, "podIP" pod_ip, "default" default_. As the
/// members of the built-in types.
std::string MemberName(std::string_view name);

/// The words of a group, version or namespace with "_" for what no identifier has: "example.com"
/// gives example_com.
std::string Identifier(std::string_view text);

/// Whether it is an identifier that begins with a capital, as a kind has to.
bool IsTypeName(std::string_view name);

/// As a literal, with its quotation marks.
std::string Quoted(std::string_view text);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_NAMES_H_
