/// @file
/// The baseline: a record, stored on a workload, of the data that it runs with.
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

/// A digest that stands for unknown data. It differs from the digest of any data, so a comparison
/// with it always finds a change.
const Digest& UnknownData();

/// The data that a workload is known to run with: for each of its sources the digest that the
/// workload was last rolled for, or that the source had when the operator first saw the two. A
/// value type.
///
/// As text: "v1 UID configmap/NAME=DIGEST secret/NAME=DIGEST:KEYS ...", sorted; after a number of
/// re-recordings "UID/EDITION" instead of "UID". DIGEST is 40 hexadecimal digits, or "-" for
/// kNoSource. KEYS lists the keys that the digest covers, when it does not cover all. UID is the
/// workload's: if the annotation was copied to another object (kubectl get -o yaml, edited and
/// applied), or the object was deleted and created again, the baseline says nothing about the pods
/// of the present object and is ignored.
struct Baseline {
  /// The longest text. All annotations of an object together may have 256 KiB.
  static constexpr std::size_t kMaxBytes = std::size_t{32} * 1024;

  std::string uid{};
  /// Changes the text without changing its content. When somebody else has restored an older text,
  /// the operator writes it with another edition, so that the managed fields name the operator as
  /// its writer again.
  std::uint32_t edition = 0;
  std::map<SourceId, Digest> digests{};
  /// The list of keys that a digest covers, for each digest that does not cover all keys.
  std::map<SourceId, std::string> keys{};

  /// Sets the digest of a source. `over`: the list of keys that the digest covers; empty: all.
  void Set(const SourceId& source, const Digest& digest, const std::string& over);
  /// The list of keys that the digest of the source covers; empty: all.
  const std::string& KeysOf(const SourceId& source) const;
  /// Parses a text; `namespace_` is the workload's. Returns std::nullopt if any part of the text is
  /// not what ToString writes: a damaged baseline is not used at all.
  static std::optional<Baseline> Parse(std::string_view text, std::string_view namespace_);
  std::string ToString() const;
  /// The number of bytes that an entry takes in the text.
  static std::size_t SizeOf(const SourceId& source, const std::string& over = {});
  bool operator==(const Baseline&) const = default;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_BASELINE_H_
