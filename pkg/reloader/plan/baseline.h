/// @file
/// The baseline: a record, stored on a workload, of the data that it runs with.
#ifndef KUBEXX_RELOADER_PLAN_BASELINE_H_
#define KUBEXX_RELOADER_PLAN_BASELINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// A digest that stands for unknown data. It differs from the digest of any data, so a comparison
/// with it always finds a change.
const Digest& UnknownData();

/// The data that a workload is known to run with: for each of its sources the digest that the
/// workload was last rolled for, or that the source had when the operator first saw the two. A
/// value type.
///
/// As text: "v2 UID TIME configmap/NAME=DIGEST@VERSION secret/NAME=DIGEST@VERSION:KEYS ...",
/// sorted, with `unread` at the end; after a number of re-recordings "UID/EDITION" instead of
/// "UID". DIGEST is 40 hexadecimal digits, or "-" for kNoSource. KEYS lists the keys that the
/// digest covers, when it does not cover all. An object of a described kind is "KIND.MARK/NAME",
/// with the SourceKind::Mark of the description under which the digest was taken, and
/// "KIND.MARK.due/NAME" for one in `due`. UID is the workload's: if the annotation was copied to
/// another object (kubectl get -o yaml, edited and applied), or the object was deleted and created
/// again, the baseline says nothing about the pods of the present object and is ignored: see
/// OwnBaselineOf. ">UID" is written into a Job that the operator creates in place of the one with
/// that UID, because nobody knows the new UID then. TIME is `template_written` in seconds since
/// 1970, and VERSION is of `versions`; a source without one has no "@VERSION". Without
/// `template_written` the text begins with "v1" and has neither TIME nor versions.
struct Baseline {
  /// The longest text. All annotations of an object together may have 256 KiB.
  static constexpr std::size_t kMaxBytes = std::size_t{32} * 1024;
  /// A `template_written` that is older than every template.
  static constexpr apimachinery::Time kNoTemplate{.seconds = 0};

  std::string uid{};
  /// The baseline is that of the Job which the operator has created in place of the one with `uid`.
  bool is_of_next = false;
  /// Changes the text without changing its content. When somebody else has restored an older text,
  /// the operator writes it with another edition, so that the managed fields name the operator as
  /// its writer again.
  std::uint32_t edition = 0;
  std::map<SourceId, Digest> digests{};
  /// The list of keys that a digest covers, for each digest that does not cover all keys.
  std::map<SourceId, std::string> keys{};
  /// Workload::template_written of the newest pod template up to which the writer of the baseline
  /// had seen every write of the sources; std::nullopt: not known. kNoTemplate: of none, as in
  /// the baseline of a rollout, which is written before anybody can have seen that.
  std::optional<apimachinery::Time> template_written{};
  /// The resource version of each source up to which the writer of the baseline had seen it. What
  /// was written to a source later may have come and gone while no operator saw it.
  std::map<SourceId, std::uint64_t> versions{};

  /// What is recorded of objects whose kind this process does not know, each entry as its text. It
  /// says nothing to this process, and is kept for others.
  std::set<std::string> unread{};

  /// The marks of descriptions that do not count any more, for each digest that was taken under
  /// one: it does not compare with digests of the present description.
  std::map<SourceId, std::string> other_fields{};
  /// Sources of described kinds that have other data than the digest says, for which the workload
  /// has still to be rolled. A process with another description cannot compare the digest, and
  /// would lose a rollout that waits.
  std::set<SourceId> due{};

  /// Sets what is known of a source, under the present description of its kind; it is not due then.
  /// `over`: the list of
  /// keys that the digest covers; empty: all. `version`: see `versions`; 0: not known.
  void Set(const SourceId& source, const Digest& digest, const std::string& over,
           std::uint64_t version = 0);
  /// Sets what `other` has of the source, as it is there.
  void SetAs(const Baseline& other, const SourceId& source);
  /// Whether the source's digest is about other fields than count now.
  bool HasOtherFields(const SourceId& source) const { return other_fields.contains(source); }
  /// Whether the source is in `due`.
  bool IsDue(const SourceId& source) const { return due.contains(source); }
  /// Removes a source.
  void Erase(const SourceId& source);
  /// The source's entry in `versions`; 0: there is none.
  std::uint64_t VersionOf(const SourceId& source) const;
  /// Whether somebody other than the operator has written the pod template after the baseline, as
  /// the workload's template_written, `written`, tells. False when that is not known.
  bool IsOlderThanTemplate(const std::optional<apimachinery::Time>& written) const;
  /// The list of keys that the digest of the source covers; empty: all.
  const std::string& KeysOf(const SourceId& source) const;
  /// Parses a text; `namespace_` is the workload's. Returns std::nullopt if any part of the text is
  /// not what ToString writes: a damaged baseline is not used at all.
  static std::optional<Baseline> Parse(std::string_view text, std::string_view namespace_);
  std::string ToString() const;
  /// The number of bytes that an entry takes in the text.
  static std::size_t SizeOf(const SourceId& source, const std::string& over = {},
                            std::uint64_t version = 0, bool is_due = false);
  bool operator==(const Baseline&) const = default;
};

/// The baseline on the workload, if it is about the workload's own pods: it names the workload's
/// UID, or, on a Job that the operator itself has created together with it
/// (Workload::is_made_with_baseline), that of the Job before. Returns std::nullopt when there is
/// none, when it was copied from another object, and when it is damaged.
std::optional<Baseline> OwnBaselineOf(const Workload& workload);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_BASELINE_H_
