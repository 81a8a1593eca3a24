/// @file
/// Digests of single values of a source, for lists of keys.
#ifndef KUBEXX_RELOADER_MODEL_VALUE_DIGESTS_H_
#define KUBEXX_RELOADER_MODEL_VALUE_DIGESTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/digest.h"

namespace kubexx::reloader {

/// What a digest over some keys is made of: that of the whole data, to know it by, and one for the
/// value of each key.
struct ValueDigests {
  Digest whole{};
  std::map<std::string, Digest> values{};
  /// See LastWritten.
  std::optional<apimachinery::Time> written{};
  /// See KeysLastWritten.
  std::map<std::string, apimachinery::Time> keys_written{};
  /// The store's resource version when they were read; 0: not known.
  std::uint64_t read_at = 0;
};

/// Of a ConfigMap or Secret as the API has it, which is not kept.
ValueDigests ValueDigestsOf(const api::core::v1::ConfigMap& config_map);
/// The same; the bytes wipe themselves.
ValueDigests ValueDigestsOf(const api::core::v1::Secret& secret);

/// SHA-1 over "key=<digest of its value>" of those of `keys`, a list as KeyList writes it, that are
/// there.
Digest DigestOver(const ValueDigests& data, std::string_view keys);

/// When any of `keys`, a list as KeyList writes it, was last written: others that change all the
/// time do not count. When the data were, for an empty list, or when nothing tells the keys apart.
std::optional<apimachinery::Time> WrittenOver(const ValueDigests& data, std::string_view keys);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_VALUE_DIGESTS_H_
