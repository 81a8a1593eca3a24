/// @file
/// Lists of keys of ConfigMaps and Secrets.
#ifndef KUBEXX_RELOADPOLICY_KEY_LIST_H_
#define KUBEXX_RELOADPOLICY_KEY_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::reloadpolicy {

/// The longest list, as text: the list is recorded on every workload that rolls for the source.
inline constexpr std::size_t kMaxKeyListBytes = 1024;

/// Whether a ConfigMap or Secret can have this key: 1 to 253 letters, digits, '-', '_' and '.'.
bool IsDataKey(std::string_view key);

/// Returns the keys as one text: sorted, without duplicates, separated by commas; empty when no key
/// is left. Leaves out texts that are not valid keys, and the whole list when it is longer than
/// kMaxKeyListBytes; both are reported in `problems`.
std::string KeyList(std::vector<std::string> keys, std::vector<std::string>& problems);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_KEY_LIST_H_
