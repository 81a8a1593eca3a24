/// @file
/// The keys of its sources that a workload uses.
#ifndef KUBEXX_RELOADER_MODEL_USED_KEYS_H_
#define KUBEXX_RELOADER_MODEL_USED_KEYS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// For each ConfigMap and Secret of which a pod template uses only some keys: these keys, as
/// reloadpolicy::KeyList writes them. The key of the map is the source's type and name. A source
/// that is not listed is used as a whole, or not mentioned at all.
using UsedKeys = std::map<std::pair<SourceType, std::string>, std::string>;

/// A list of keys that no source has: none of its keys count. No object can have the key "..", and
/// a list without any key would mean all keys.
inline constexpr std::string_view kNoKeys = "..";

/// Finds the keys in the containers and init containers of a pod: `valueFrom` of a variable uses
/// one key; a mounted volume uses the keys of its `items`, or of what its `subPath` selects;
/// `envFrom`, and a volume without either, use all keys. What cannot be told counts as all keys: a
/// `subPathExpr` with variables, a `subPath` that leads to no key, a list that is too long (see
/// reloadpolicy::kMaxKeyListBytes). A volume that no container mounts uses nothing. Pure.
UsedKeys UsedKeysOf(const api::core::v1::PodSpec& pod);

/// Encodes `keys` as a text without line breaks.
std::string TextOf(const UsedKeys& keys);
/// The inverse of TextOf. Leaves out what cannot be read.
UsedKeys UsedKeysFrom(std::string_view text);

/// The keys that are in both lists, as reloadpolicy::KeyList writes them: empty if all keys count;
/// kNoKeys if no key is in both. An empty list contains all keys. Pure.
std::string KeysInBoth(const std::string& one, const std::string& other);

/// Whether every key of the list `keys` is in the list `among`; empty lists contain all keys. Pure.
bool HasNoKeysBeyond(std::string_view keys, std::string_view among);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_USED_KEYS_H_
