/// @file
/// What an informer keeps of a source beyond the digest of its data, for the history of rollouts.
#ifndef KUBEXX_RELOADER_MODEL_SOURCE_TRACE_H_
#define KUBEXX_RELOADER_MODEL_SOURCE_TRACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/kept_source.h"
#include "kubexx/reloader/model/value_digests.h"

namespace kubexx::reloader {

/// The first bytes of the digest of a single value: enough to tell two values of one key apart.
using ShortDigest = std::array<std::uint8_t, 8>;

/// Who wrote an object's data last. A value type.
struct DataWriter {
  std::string manager{};      ///< the field manager
  apimachinery::Time time{};  ///< in whole seconds
  bool operator==(const DataWriter&) const = default;
};

/// The keys of a ConfigMap or Secret, and who wrote its data. Contains no values. A value type.
struct SourceTrace {
  /// The most keys that are kept of a source.
  static constexpr std::size_t kMaxKeys = 200;
  /// By key; std::nullopt: the source has more than kMaxKeys, and nothing is kept of any.
  std::optional<std::map<std::string, ShortDigest>> values{};
  /// According to the managed fields; std::nullopt when they do not tell. They do not show a write
  /// that only removes keys.
  std::optional<DataWriter> writer{};
  bool operator==(const SourceTrace&) const = default;
};

/// A manager's name as it may be shown: what a terminal could not show is replaced, and it is cut
/// to 64 characters.
std::string ShownManager(std::string_view manager);

/// The manager of those fields of `metadata`'s object that contain data, the latest if there are
/// several. Its name is a ShownManager.
std::optional<DataWriter> DataWriterOf(const api::meta::v1::ObjectMeta& metadata);

/// Stores the trace of a source with these values, which `writer` wrote, in `kept`.
void KeepTrace(const ValueDigests& data, const std::optional<DataWriter>& writer, KeptSource& kept);
/// Reads back what KeepTrace has stored; std::nullopt when `object` was projected without it.
std::optional<SourceTrace> TraceFrom(const cache::Object& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_SOURCE_TRACE_H_
