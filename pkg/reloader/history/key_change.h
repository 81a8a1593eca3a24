/// @file
/// What became of a key of a ConfigMap or Secret.
#ifndef KUBEXX_RELOADER_HISTORY_KEY_CHANGE_H_
#define KUBEXX_RELOADER_HISTORY_KEY_CHANGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kubexx/reloader/model/source_trace.h"

namespace kubexx::reloader {

/// A change of one key. A value type.
struct KeyChange {
  enum class What : std::uint8_t { kAdded, kChanged, kRemoved } what = What::kChanged;
  /// Of the new value, in hexadecimal digits; empty when the key was removed, and always for a
  /// Secret, whose single values somebody could guess by it.
  std::string digest{};
  bool operator==(const KeyChange&) const = default;
};

/// By key.
using KeyChanges = std::map<std::string, KeyChange>;

/// "added", "changed" or "removed".
std::string_view ToString(KeyChange::What what);

/// Compares the values of a source before and after a change. `is_secret`: no digests.
KeyChanges CompareValues(const std::map<std::string, ShortDigest>& before,
                         const std::map<std::string, ShortDigest>& after, bool is_secret);

/// Adds a later change to `changes`: what was added and removed again has not changed.
void AddLater(KeyChanges& changes, const KeyChanges& later);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HISTORY_KEY_CHANGE_H_
