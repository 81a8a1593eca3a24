#include "kubexx/reloadpolicy/key_list.h"

#include <algorithm>

#include "kubexx/base/ascii.h"
#include "kubexx/reloadpolicy/internal/quoted.h"

namespace kubexx::reloadpolicy {

bool IsDataKey(std::string_view key) {
  return !key.empty() && key.size() <= 253 && std::ranges::all_of(key, [](char c) {
    return base::IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
}

std::string KeyList(std::vector<std::string> keys, std::vector<std::string>& problems) {
  std::erase_if(keys, [&](const std::string& key) {
    if (!IsDataKey(key)) {
      problems.push_back(internal::Quoted(key) + " is not a key of a ConfigMap or Secret");
    }
    return !IsDataKey(key);
  });
  std::ranges::sort(keys);
  const auto rest = std::ranges::unique(keys);
  keys.erase(rest.begin(), rest.end());
  std::string list;
  for (const std::string& key : keys) {
    list += (list.empty() ? "" : ",") + key;
  }
  if (list.size() > kMaxKeyListBytes) {
    problems.push_back("the keys are longer than " + std::to_string(kMaxKeyListBytes) +
                       " bytes together");
    return {};
  }
  return list;
}

}  // namespace kubexx::reloadpolicy
