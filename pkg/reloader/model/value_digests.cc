#include "kubexx/reloader/model/value_digests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {

Digest DigestOver(const ValueDigests& data, std::string_view keys) {
  std::vector<std::pair<std::string_view, std::string>> items;
  AnyItem(keys, [&](std::string_view key) {
    if (const auto value = data.values.find(std::string(key)); value != data.values.end()) {
      items.emplace_back(value->first, value->second.ToString());
    }
    return false;
  });
  DigestBuilder builder;
  for (const auto& [key, value] : items) {
    builder.Add(key, value);
  }
  return builder.Finish();
}

std::optional<apimachinery::Time> WrittenOver(const ValueDigests& data, std::string_view keys) {
  std::optional<apimachinery::Time> written;
  AnyItem(keys, [&](std::string_view key) {
    if (const auto at = data.keys_written.find(std::string(key)); at != data.keys_written.end()) {
      written = std::max(written.value_or(at->second), at->second);
    }
    return false;
  });
  return written ? written : data.written;
}

}  // namespace kubexx::reloader
