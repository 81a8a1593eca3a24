/// @file
/// Lists of keys of ConfigMaps and Secrets.
#ifndef KUBEXX_RELOADPOLICY_KEY_LIST_H_
#define KUBEXX_RELOADPOLICY_KEY_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::reloadpolicy {

/// Of a list's text: it is recorded on every workload that rolls for the source.
inline constexpr std::size_t kMaxKeyListBytes = 1024;

/// Whether a ConfigMap or Secret can have the key: letters, digits, '-', '_' and '.', up to 253.
bool IsDataKey(std::string_view key);

/// The keys as one text: ascending, each once, with commas between; empty when none is left. What
/// is no key is left out and told in `problems`; a list that is too long is left out altogether.
std::string KeyList(std::vector<std::string> keys, std::vector<std::string>& problems);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_KEY_LIST_H_
