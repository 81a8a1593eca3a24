// What an Oracle makes of sources that workloads of other namespaces name.
#include <optional>
#include <string>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {

void Oracle::MeetLocked(const std::string& name) {
  const std::string space(SpaceOf(name));
  if (!options_.shares || !spaces_.insert(space).second) {
    return;
  }
  for (const auto& [source, object] : shared_) {
    OnSharedWithLocked(source, space);
  }
}

void Oracle::OnSharedLocked(const std::string& source, const codec::JsonTree* object) {
  if (!options_.shares || IsObject(source)) {
    return;
  }
  if (object == nullptr) {
    shared_.erase(source);
  } else {
    shared_.insert_or_assign(source, *object);
  }
  for (const std::string& space : spaces_) {
    OnSharedWithLocked(source, space);
  }
}

void Oracle::OnSharedWithLocked(const std::string& source, const std::string& space) {
  if (SpaceOf(source) == space) {
    return;
  }
  const std::string key = ForeignOf(source, space);
  const auto found = shared_.find(source);
  if (found == shared_.end()) {
    hidden_.erase(key);
    paused_.erase(key);
    written_at_.erase(key);
    data_written_.erase(key);
    OnSourceLocked(key, std::nullopt);
    return;
  }
  const codec::JsonTree& object = found->second;
  const bool is_hidden = !AllowsSpace(object, space);
  written_at_[key] = written_at_[source];
  data_written_[key] = DataWrittenIn(object);
  if (is_hidden) {
    hidden_.insert(key);
  } else {
    hidden_.erase(key);
  }
  NotePauseLocked(
      key, is_hidden || object.At({"metadata", "annotations", reloader::kSourcePaused}) != nullptr);
  OnSourceLocked(key, DataOf(object));
}

}  // namespace kubexx::oracle
