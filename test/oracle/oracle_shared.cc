// What an Oracle makes of sources that workloads of other namespaces name.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

/// Longer than a rollout is on its way that began while the source allowed it.
constexpr std::chrono::seconds kLateRollout{10};

/// "configmaps/ns/name" as workloads of `space` know it.
std::string ForeignOf(const std::string& source, std::string_view space) {
  const std::size_t begin = source.find('/') + 1;
  return source.substr(0, begin) + std::string(space) + "/" + source.substr(begin);
}

/// Whether a source allows workloads of this namespace to name it.
bool AllowsSpace(const codec::JsonTree& source, std::string_view space) {
  const codec::JsonTree* const found =
      source.At({"metadata", "annotations", reloader::kAllowedNamespaces});
  const std::string* const list = found == nullptr ? nullptr : found->AsString();
  return list != nullptr && reloader::AnyItem(*list, [space](std::string_view item) {
           return item == space || item == "*";
         });
}

bool TellsOf(const std::string& stamps, const std::string& source, const std::string& data) {
  const auto digest = DigestTextOf(source, data);
  return digest && stamps.contains("=" + *digest);
}

}  // namespace

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
    hidden_.try_emplace(key, options_.now());
  } else {
    hidden_.erase(key);
  }
  NotePauseLocked(
      key, is_hidden || object.At({"metadata", "annotations", reloader::kSourcePaused}) != nullptr);
  OnSourceLocked(key, DataOf(object));
}

bool Oracle::IsForHiddenLocked(const ObservedWorkload& before, const std::string& stamps) const {
  return std::ranges::any_of(hidden_, [&](const auto& each) {
    const auto& [source, since] = each;
    const auto data = data_.find(source);
    const auto changed = changed_at_.find(source);
    return data != data_.end() && changed != changed_at_.end() && since < changed->second &&
           options_.now() - since > kLateRollout && before.read.contains(source) &&
           TellsOf(stamps, source, data->second) && !TellsOf(before.stamps, source, data->second);
  });
}

}  // namespace kubexx::oracle
