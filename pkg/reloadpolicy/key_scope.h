/// @file
/// Which keys of its sources count for a workload.
#ifndef KUBEXX_RELOADPOLICY_KEY_SCOPE_H_
#define KUBEXX_RELOADPOLICY_KEY_SCOPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kubexx::reloadpolicy {

/// Which keys of a ConfigMap or Secret count for a workload. Lists of keys (key_list.h) may exclude
/// further keys.
enum class KeyScope : std::uint8_t {
  kAll,
  /// Only the keys that the workload's pod template uses.
  kReferenced,
};

/// The name of the scope in policies, annotations and flags: "All" or "Referenced".
constexpr std::string_view ToString(KeyScope scope) {
  return scope == KeyScope::kReferenced ? "Referenced" : "All";
}

/// The inverse of ToString. Returns std::nullopt for any other text.
constexpr std::optional<KeyScope> ParseKeyScope(std::string_view text) {
  return text == ToString(KeyScope::kAll)          ? std::optional(KeyScope::kAll)
         : text == ToString(KeyScope::kReferenced) ? std::optional(KeyScope::kReferenced)
                                                   : std::nullopt;
}

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_KEY_SCOPE_H_
