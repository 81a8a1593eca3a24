#include "kubexx/reloader/history/key_change.h"

#include <cstddef>
#include <span>

#include "kubexx/base/hex.h"

namespace kubexx::reloader {
namespace {

using What = KeyChange::What;

std::string ShownDigest(const ShortDigest& digest, bool is_secret) {
  constexpr std::size_t kShownBytes = 4;
  return is_secret ? std::string() : base::ToHex(std::span(digest).first(kShownBytes));
}

}  // namespace

std::string_view ToString(What what) {
  return what == What::kAdded ? "added" : what == What::kRemoved ? "removed" : "changed";
}

KeyChanges CompareValues(const std::map<std::string, ShortDigest>& before,
                         const std::map<std::string, ShortDigest>& after, bool is_secret) {
  KeyChanges changes;
  for (const auto& [key, digest] : after) {
    const auto had = before.find(key);
    if (had == before.end() || had->second != digest) {
      changes[key] = {.what = had == before.end() ? What::kAdded : What::kChanged,
                      .digest = ShownDigest(digest, is_secret)};
    }
  }
  for (const auto& [key, digest] : before) {
    if (!after.contains(key)) {
      changes[key] = {.what = What::kRemoved};
    }
  }
  return changes;
}

void AddLater(KeyChanges& changes, const KeyChanges& later) {
  for (const auto& [key, change] : later) {
    const auto [found, is_new] = changes.try_emplace(key, change);
    if (is_new) {
      continue;
    }
    const What earlier = found->second.what;
    found->second = change;
    if (earlier == What::kAdded && change.what == What::kRemoved) {
      changes.erase(found);
    } else if (earlier == What::kAdded) {
      found->second.what = What::kAdded;
    } else if (earlier == What::kRemoved) {
      found->second.what = What::kChanged;
    }
  }
}

}  // namespace kubexx::reloader
