/// @file
/// What a workload last rolled for, as it is recorded on the workload.
#ifndef KUBEXX_RELOADER_PLAN_BASELINE_H_
#define KUBEXX_RELOADER_PLAN_BASELINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// Stands for data that are not known, other than any: all that there can be is a change.
const Digest& UnknownData();

/// The data that a workload is known to run with: for each of its sources the digest it was rolled
/// for, or had when the operator first looked. A value type.
///
/// As text: "v1 UID configmap/NAME=DIGEST secret/NAME=DIGEST:KEYS ...", or UID/EDITION, ascending,
/// DIGEST being 40 hexadecimal digits or "-" for kNoSource, and KEYS the list of keys it is over,
/// when not all are. The UID is the workload's: a copy of the annotation on another object (kubectl
/// get -o yaml, edited and applied) or on one that was deleted and made anew says nothing about
/// that object's pods and is not believed.
struct Baseline {
  /// Annotations of an object may have 256 KiB together; this is what the baseline takes of it.
  static constexpr std::size_t kMaxBytes = std::size_t{32} * 1024;

  std::string uid{};
  /// Sets a text apart from one of the same content that somebody else has brought back, so that
  /// writing it makes it the operator's own again in the managed fields.
  std::uint32_t edition = 0;
  std::map<SourceId, Digest> digests{};
  /// Of those digests that are over some keys only: which.
  std::map<SourceId, std::string> keys{};

  void Set(const SourceId& source, const Digest& digest, const std::string& over);
  /// The list of keys that the digest of the source is over; empty: all.
  const std::string& KeysOf(const SourceId& source) const;
  /// Reads a text. `namespace_` is the workload's. Nothing when any part of it is not as
  /// ToString writes it: a mangled baseline is worth no more than none.
  static std::optional<Baseline> Parse(std::string_view text, std::string_view namespace_);
  std::string ToString() const;
  /// What entry takes of the text.
  static std::size_t SizeOf(const SourceId& source, const std::string& over = {});
  bool operator==(const Baseline&) const = default;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_BASELINE_H_
