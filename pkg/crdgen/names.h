/// @file
/// Functions that turn names of JSON and YAML into C++ names.
#ifndef KUBEXX_CRDGEN_NAMES_H_
#define KUBEXX_CRDGEN_NAMES_H_

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::crdgen {

/// Returns a part of a type's name: "max-surge" and "maxSurge" give MaxSurge.
std::string CamelCase(std::string_view name);

/// Returns a member's name as the built-in types have it: "clusterIPs" gives cluster_ips, "podIP"
/// pod_ip, "default" default_, and "errno", which is a macro, errno_.
std::string MemberName(std::string_view name);

/// Returns a member's name in camel case: "podIp" for pod_ip, "xYZ" for x_y_z.
std::string JsonSpelling(std::string_view member);

/// Returns the name in JSON of a member, "podIp" for pod_ip and "default" for default_: the
/// JsonSpelling, if MemberName turns it into `member`. Returns "" if there is none, as for podIP,
/// _a and field_2xx.
std::string JsonName(std::string_view member);

/// Replaces the characters of a group, version or namespace that identifiers cannot contain by "_":
/// "example.com" gives example_com.
std::string Identifier(std::string_view text);

/// Whether `name` is an identifier that begins with a capital letter, as a kind must, and is not a
/// macro of the standard headers.
bool IsTypeName(std::string_view name);

/// Whether code can be in this namespace: identifiers joined by "::", none of which is a keyword, a
/// macro or "std".
bool IsNamespace(std::string_view name);

/// Removes the characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069),
/// which can make code look different from what it is.
std::string WithoutTurns(std::string_view text);

/// Returns `text` as a string literal with quotation marks; invisible characters are escaped.
std::string Quoted(std::string_view text);

/// The names that are in use in a scope. Not thread-safe.
class NameSet {
 public:
  /// The prefix and suffix of another name that is made from a name.
  using Affixes = std::pair<std::string_view, std::string_view>;

  /// Adds and returns `base` or, if it is in use, `base` with the separator and the first number
  /// from 2 on that makes it free. `also` describes further names that must be free, too, and are
  /// added with it. The time for all calls together is proportional to the number of names.
  std::string Add(const std::string& base, std::string_view separator = {},
                  std::initializer_list<Affixes> also = {});

  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
  std::map<std::string, int> next_;  ///< for each base, how many were tried
};

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_NAMES_H_
