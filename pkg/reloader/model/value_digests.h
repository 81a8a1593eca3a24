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

/// The data from which a digest over some keys is computed: the digest of all data, and one digest
/// for the value of each key.
struct ValueDigests {
  Digest whole{};  ///< kNoSource: the source does not exist
  std::map<std::string, Digest> values{};
  /// See LastWritten.
  std::optional<apimachinery::Time> written{};
  /// See KeysLastWritten.
  std::map<std::string, apimachinery::Time> keys_written{};
  /// The resource version of the store when they were read; 0: not known.
  std::uint64_t read_at = 0;
};

/// The digests of a ConfigMap or Secret as the API server returns it. The object is not kept.
ValueDigests ValueDigestsOf(const api::core::v1::ConfigMap& config_map);
/// The same for a Secret; its bytes wipe themselves.
ValueDigests ValueDigestsOf(const api::core::v1::Secret& secret);

/// SHA-1 over "key=<digest of its value>" for each of `keys` that exists. `keys` is a list as
/// KeyList writes it.
Digest DigestOver(const ValueDigests& data, std::string_view keys);

/// When any of `keys` was last written, so that other keys which change all the time do not count.
/// `keys` is a list as KeyList writes it. If the list is empty, or the managed fields do not list
/// keys: when the data were last written.
std::optional<apimachinery::Time> WrittenOver(const ValueDigests& data, std::string_view keys);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_VALUE_DIGESTS_H_
