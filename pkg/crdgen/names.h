/// @file
/// C++ names for what JSON and YAML name otherwise.
#ifndef KUBEXX_CRDGEN_NAMES_H_
#define KUBEXX_CRDGEN_NAMES_H_

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::crdgen {

/// A part of a type's name: "max-surge" and "maxSurge" give MaxSurge.
std::string CamelCase(std::string_view name);

/// A member's name: "clusterIPs" gives cluster_ips, "podIP" pod_ip, "default" default_, and
/// "errno", which is a macro, errno_. As the members of the built-in types.
std::string MemberName(std::string_view name);

/// The words of a group, version or namespace with "_" for what no identifier has: "example.com"
/// gives example_com.
std::string Identifier(std::string_view text);

/// Whether it is an identifier that begins with a capital, as a kind has to, and no macro of the
/// standard headers.
bool IsTypeName(std::string_view name);

/// Whether code can be put into this namespace: identifiers joined by "::", none of them a keyword,
/// a macro or "std".
bool IsNamespace(std::string_view name);

/// Without the characters that turn the direction of text (U+202A to U+202E, U+2066 to U+2069),
/// with which code can be made to look other than it is.
std::string WithoutTurns(std::string_view text);

/// As a literal, with its quotation marks; what cannot be seen is escaped.
std::string Quoted(std::string_view text);

/// The names that are taken in a scope. Not thread-safe.
class NameSet {
 public:
  /// What comes before and after a name in another one that is made of it.
  using Affixes = std::pair<std::string_view, std::string_view>;

  /// Takes `base`, or where it is taken `base` with the separator and the first number from 2 on
  /// that makes a free name of it, and returns that. `also` are names that have to be free as well,
  /// and are taken with it. All calls together take time in proportion to the names.
  std::string Add(const std::string& base, std::string_view separator = {},
                  std::initializer_list<Affixes> also = {});

  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
  std::map<std::string, int> next_;  ///< for each base, how many were tried
};

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_NAMES_H_
