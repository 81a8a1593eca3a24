#include "kubexx/discovery/cached_discovery.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "kubexx/base/replace_file.h"
#include "kubexx/codec/codec.h"

namespace kubexx::discovery {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The first line of a file: when the server was asked, in seconds since 1970.
std::int64_t Seconds(base::WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

bool IsComplete(const GroupList& groups) {
  return std::ranges::all_of(groups.items, [](const auto& group) {
    return std::ranges::none_of(group.versions,
                                [](const auto& version) { return version.freshness == "Stale"; });
  });
}

}  // namespace

CachedDiscovery::CachedDiscovery(DiscoveryClient client, Options options)
    : client_(std::move(client)), options_(std::move(options)) {}

Result<CachedDiscovery::Snapshot> CachedDiscovery::Groups(std::stop_token stop) {
  return Refresh(nullptr, std::move(stop));
}

Result<CachedDiscovery::Snapshot> CachedDiscovery::Refresh(const Snapshot& seen,
                                                           std::stop_token stop) {
  {
    const base::MutexLock lock(mu_);
    while (loading_) {
      const base::Wake wake = options_.clock.WaitUntil(mu_, loaded_, stop, base::TimePoint::max());
      if (wake == base::Wake::kStopped && loading_) {
        return Fail(Reason::kCancelled, "discovery was cancelled");
      }
    }
    if (snapshot_ != nullptr && snapshot_ != seen) {
      return snapshot_;
    }
    loading_ = true;
  }
  Result<Snapshot> loaded;
  try {
    loaded = Load(seen == nullptr, stop);
  } catch (...) {  // out of memory: others must not wait for this for ever
    const base::MutexLock lock(mu_);
    loading_ = false;
    loaded_.notify_all();
    throw;
  }
  {
    const base::MutexLock lock(mu_);
    loading_ = false;
    if (loaded) {
      snapshot_ = *loaded;
    }
  }
  loaded_.notify_all();
  return loaded;
}

Result<CachedDiscovery::Snapshot> CachedDiscovery::Load(bool may_use_file,
                                                        const std::stop_token& stop) const {
  if (may_use_file && !options_.file.empty()) {
    if (Snapshot groups = ReadFile()) {
      return groups;
    }
  }
  KX_ASSIGN_OR_RETURN(GroupList groups, client_.Groups(stop));
  if (!options_.file.empty() && IsComplete(groups)) {
    WriteFile(groups);
  }
  return std::make_shared<const GroupList>(std::move(groups));
}

CachedDiscovery::Snapshot CachedDiscovery::ReadFile() const {
  std::ifstream in(options_.file, std::ios::binary);
  std::int64_t fetched = 0;
  if (!(in >> fetched)) {
    return nullptr;
  }
  const std::int64_t age = Seconds(options_.clock.Wall()) - fetched;
  if (age < 0 || age > options_.file_max_age.count()) {
    return nullptr;
  }
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  auto groups = codec::DecodeJson<GroupList>(json);
  return groups ? std::make_shared<const GroupList>(std::move(*groups)) : nullptr;
}

void CachedDiscovery::WriteFile(const GroupList& groups) const {
  // Another process may read or write the file. Without it all works, only slower.
  (void)base::ReplaceFile(
      options_.file,
      std::to_string(Seconds(options_.clock.Wall())) + "\n" + codec::EncodeJson(groups), 0644);
}

}  // namespace kubexx::discovery
