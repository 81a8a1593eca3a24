/// @file
/// Short prints of the values of a source, to compare two states of its data under some keys.
#ifndef KUBEXX_RELOADER_MODEL_KEY_PRINTS_H_
#define KUBEXX_RELOADER_MODEL_KEY_PRINTS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kubexx::api::core::v1 {
struct ConfigMap;
struct Secret;
}  // namespace kubexx::api::core::v1

namespace kubexx::reloader {

/// Prints of the values of one ConfigMap or Secret, six bytes for each key. Informers keep them,
/// because no API server gives the values of an earlier state. They tell nothing of a value, and
/// compare only with prints of the same process. A value type.
struct KeyPrints {
  /// The most keys of which prints are kept.
  static constexpr std::size_t kMaxKeys = 200;
  /// Empty: not known, for example because the source has more than kMaxKeys.
  std::string packed{};
  bool operator==(const KeyPrints&) const = default;
};

/// The prints of all values of the object.
KeyPrints KeyPrintsOf(const api::core::v1::ConfigMap& config_map);
/// The same for a Secret.
KeyPrints KeyPrintsOf(const api::core::v1::Secret& secret);

/// Whether both are known and have the same values under `keys`, a list as KeyList writes it. Two
/// keys may share a print of their name, so the answer may be false though these values are the
/// same. Pure.
bool AreSameUnder(std::string_view keys, const KeyPrints& one, const KeyPrints& other);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_KEY_PRINTS_H_
