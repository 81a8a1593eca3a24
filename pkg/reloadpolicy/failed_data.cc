#include "kubexx/reloadpolicy/failed_data.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace kubexx::reloadpolicy {
namespace {

/// A message that names more sources is harder to read, and an Event has no room for them.
constexpr std::size_t kMaxSourcesTold = 10;

std::string_view SourceOf(std::string_view version) { return version.substr(0, version.find('=')); }

}  // namespace

std::optional<base::WallTime> FailedData::EndOfGone() const {
  const auto time = std::chrono::duration_cast<base::WallTime::duration>(kMadeAnewWithin);
  return gone_since ? std::optional(*gone_since + time) : std::nullopt;
}

void FailedData::Clamp(base::WallTime now) {
  if (gone_since) {
    gone_since = std::min(*gone_since, now);
  }
}

const FailedDataMap::value_type* FindFailed(const FailedDataMap& all, const ObjectRef& workload,
                                            const DataVersions& versions) {
  for (const auto& each : all) {
    if (each.first != workload && each.first.key.namespace_ == workload.key.namespace_ &&
        HaveInCommon(each.second.versions, versions)) {
      return &each;
    }
  }
  return nullptr;
}

DataVersions WithOlder(DataVersions versions, const DataVersions& failed) {
  std::set<std::string, std::less<>> sources;
  for (const std::string& version : versions) {
    sources.emplace(SourceOf(version));
  }
  for (const std::string& version : failed) {
    if (!sources.contains(SourceOf(version))) {
      versions.push_back(version);
    }
  }
  versions.resize(std::min(versions.size(), kMaxDataVersions));
  return versions;
}

std::string SourcesOf(const DataVersions& versions) {
  std::set<std::string_view> sources;
  std::string text;
  for (const std::string& version : versions) {
    if (sources.insert(SourceOf(version)).second && sources.size() <= kMaxSourcesTold) {
      text += text.empty() ? "" : ", ";
      text += SourceOf(version);
    }
  }
  if (sources.size() > kMaxSourcesTold) {
    text += " and " + std::to_string(sources.size() - kMaxSourcesTold) + " more";
  }
  return text;
}

}  // namespace kubexx::reloadpolicy
