/// @file
/// The mark of a source whose last good data the operator has put back.
#ifndef KUBEXX_RELOADER_MODEL_RESTORED_MARK_H_
#define KUBEXX_RELOADER_MODEL_RESTORED_MARK_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/digest.h"

namespace kubexx::reloader {

/// On a ConfigMap or Secret, in the write that puts its last good data back. Its value is
/// "<uid> <digest of the good data> <digest of the data that failed> <time>"; the uid is the
/// object's, so that the annotation says nothing about a copy of the object. It keeps these four
/// words, since older versions take a mark with more for none.
inline constexpr char kRestoredAnnotation[] = "reloader.kubexx.io/restored";

/// Beside kRestoredAnnotation, in the same write: "<the mark> <time of the snapshot>". It says
/// nothing beside another mark, such as one that an older version has written since.
inline constexpr char kRestoredFromAnnotation[] = "reloader.kubexx.io/restored-from";

/// The field manager of the write that puts data back; histories of rollouts name it as who wrote
/// the data. It owns kRestoredAnnotation, and may have given the data to those who apply them.
inline constexpr char kRestoreFieldManager[] = "kubexx-reloader-restore";

/// What the two annotations say. A value type.
struct RestoredMark {
  std::string uid{};
  Digest good{};  ///< of the data that were put back
  Digest bad{};   ///< of the data with which a rollout had failed
  apimachinery::Time at{};
  /// When the snapshot with the good data was taken, by the API server's clock. All workloads ran
  /// with these data then. std::nullopt: not known.
  std::optional<apimachinery::Time> settled{};

  /// The value of kRestoredAnnotation. It leaves `settled` out.
  std::string ToString() const;
  /// The inverse of ToString. Returns std::nullopt for any other text, except that `settled` may
  /// follow as a fifth word: for a time the annotation was written so.
  static std::optional<RestoredMark> Parse(std::string_view text);
  /// Sets both annotations; without `settled` the second one is taken away.
  void WriteTo(std::map<std::string, std::string>& annotations) const;
  /// The inverse of WriteTo. Returns std::nullopt if there is no mark.
  static std::optional<RestoredMark> In(const std::map<std::string, std::string>& annotations);
  bool operator==(const RestoredMark&) const = default;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_RESTORED_MARK_H_
