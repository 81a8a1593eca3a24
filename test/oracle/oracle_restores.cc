// What an Oracle makes of data that operators put back.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

using codec::JsonTree;

std::string AnnotationAt(const JsonTree& object, std::string_view key) {
  const JsonTree* const found = object.At({"metadata", "annotations", key});
  return found == nullptr || found->AsString() == nullptr ? std::string() : *found->AsString();
}

std::string UidOf(const JsonTree& object) {
  const JsonTree* const uid = object.At({"metadata", "uid"});
  return uid == nullptr || uid->AsString() == nullptr ? std::string() : *uid->AsString();
}

/// "kind/name" of the key "configmaps/ns/name", as versions of data have it, with its namespace.
std::string VersionIn(const std::string& source, const std::string& digest) {
  const std::size_t space = source.find('/') + 1;
  const std::size_t name = source.find('/', space) + 1;
  return source.substr(space, name - space) +
         (IsObject(source)                 ? std::string(kObjectKind) + "/"
          : source.starts_with("secrets/") ? "Secret/"
                                           : "ConfigMap/") +
         source.substr(name) + "=" + digest;
}

}  // namespace

void Oracle::NoteRolledLocked(const std::string& name, const JsonTree& object) {
  const std::string text = AnnotationAt(object, reloadpolicy::kRolledDataAnnotation);
  const auto rolled = reloadpolicy::RolledDataOf(
      {{std::string(reloadpolicy::kRolledDataAnnotation), text}}, UidOf(object));
  if (!rolled) {
    return;
  }
  const std::size_t space = name.find('/') + 1;
  const std::string prefix = name.substr(space, name.find('/', space) + 1 - space);
  for (const std::string& version : rolled->versions) {
    // Behind a digest of fields there is the mark of their description.
    rolled_.insert(prefix + version.substr(0, version.find('.', version.find('='))));
  }
}

void Oracle::JudgeRestoreLocked(const std::string& source, const JsonTree& object) {
  const auto digest = DigestTextOf(source, DataOf(object));
  if (!digest) {
    return;
  }
  Kept& kept = kept_[source];
  if (const std::string uid = UidOf(object); kept.uid != uid) {
    kept = Kept{.uid = uid};
  }
  const std::string& now = *digest;
  const std::string before = std::exchange(kept.present, now);
  const std::string mark = AnnotationAt(object, reloader::kRestoredAnnotation);
  const auto restored = reloader::RestoredMark::Parse(mark);
  const bool is_new = std::exchange(kept.mark, mark) != mark;
  if (is_new && restored && restored->uid == kept.uid) {
    const std::string good = restored->good.ToString();
    const std::string bad = restored->bad.ToString();
    kept.good = good;
    if (!is_restored_) {
      tell_("storage", source + " has its last good data back");
      ++counts_.restored;
      if (good != now) {
        SetWrongLocked(source + " was restored, and has other data than its mark says");
      } else if (!kept.had.contains(good)) {
        SetWrongLocked(source + " was given data that it never had: " + good);
      } else if (bad != before) {
        SetWrongLocked(source + " lost data that somebody had written: " + before);
      } else if (!kept.replaced.insert(bad).second) {
        SetWrongLocked(source + " was restored a second time from the data " + bad);
      } else if (!rolled_.contains(VersionIn(source, bad))) {
        SetWrongLocked(source + " was restored from data that no wave was rolled for: " + bad);
      }
    }
  }
  kept.had.insert(now);
}

bool Oracle::IsPutBackLocked(const std::string& source) const {
  const auto found = kept_.find(SourceOf(source));
  return found != kept_.end() && !found->second.good.empty() &&
         found->second.good == found->second.present;
}

}  // namespace kubexx::oracle
