#include "csi_driver.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/rest/request.h"
#include "oracle/pod_template.h"

namespace kubexx::simulation {
namespace {

constexpr std::int64_t kMostMsBetweenLooks = 8000;
constexpr std::int64_t kMostMsBetweenPods = 2000;
constexpr int kPodsEach = 2;
/// So much longer it waits at most while there is nothing to do.
constexpr std::int64_t kMostIdle = 8;

/// The version of which a status tells.
std::string VersionOf(const codec::JsonTree& status) {
  const codec::JsonTree* const objects = status.At({"status", "objects"});
  return objects == nullptr || objects->elements().empty()
             ? ""
             : std::string(objects->elements().front().TextAt("version"));
}

/// What the namespace has, by name; nothing: it cannot be told, or the API is not there.
std::optional<std::map<std::string, std::string>> VersionsAt(rest::RESTClient& client,
                                                             const std::string& path,
                                                             const std::stop_token& stop) {
  const auto answer = client.Get().AbsPath(path).Do(stop);
  const auto list = answer ? codec::JsonTree::Parse(answer->body)
                           : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  const codec::JsonTree* const items = answer && list ? list->Find("items") : nullptr;
  if (items == nullptr) {
    return std::nullopt;
  }
  std::map<std::string, std::string> versions;
  for (const codec::JsonTree& item : items->elements()) {
    const codec::JsonTree* const metadata = item.Find("metadata");
    versions[std::string(metadata == nullptr ? "" : metadata->TextAt("name"))] = VersionOf(item);
  }
  return versions;
}

}  // namespace

CsiDriver::CsiDriver(std::shared_ptr<rest::RESTClient> client, oracle::Oracle& oracle,
                     oracle::Random random)
    : client_(std::move(client)),
      oracle_(oracle),
      random_(random),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void CsiDriver::Rotate(const std::string& space) {
  const base::MutexLock lock(mu_);
  ++versions_[space];
  ++rotations_;
}

std::string CsiDriver::VersionIn(const std::string& space) {
  const base::MutexLock lock(mu_);
  return "v" + std::to_string(versions_[space]);
}

CsiDriver::Basis CsiDriver::Present() {
  const auto revision = oracle_.seen();
  const base::MutexLock lock(mu_);
  return {.revision = revision, .rotations = rotations_};
}

// Most of the time nothing is written at all, and a look would ask the server for what it has
// answered before.
void CsiDriver::Run(const std::stop_token& stop) {
  std::int64_t idle = 1;
  std::optional<Basis> settled;
  while (base::Clock::Real().SleepFor(
      std::chrono::milliseconds(random_.Between(500, kMostMsBetweenLooks * idle)), stop)) {
    const Basis before = Present();
    const Found found = settled == before ? Found::kNothing : Look(stop);
    idle = found == Found::kWork ? 1 : std::min(idle + 1, kMostIdle);
    settled = found == Found::kNothing ? std::optional(before) : std::nullopt;
  }
}

CsiDriver::Found CsiDriver::Look(const std::stop_token& stop) {
  std::map<std::string, std::vector<oracle::Oracle::Mount>> mounts;
  for (oracle::Oracle::Mount& mount : oracle_.Mounts()) {
    spaces_.insert(mount.space);
    mounts[mount.space].push_back(std::move(mount));
  }
  Found all = Found::kNothing;
  for (const std::string& space : spaces_) {
    const Found found = LookAt(space, mounts[space], stop);
    all = found == Found::kNothing || all == Found::kWork ? all : found;
  }
  return all;
}

// What fails is done at the next look.
CsiDriver::Found CsiDriver::LookAt(const std::string& space,
                                   const std::vector<oracle::Oracle::Mount>& mounts,
                                   const std::stop_token& stop) {
  const std::string path =
      "/apis/secrets-store.csi.x-k8s.io/v1/namespaces/" + space + "/secretproviderclasspodstatuses";
  auto there = VersionsAt(*client_, path, stop);
  if (!there) {
    return Found::kNoAnswer;
  }
  bool has_done = false;
  const auto take_time = [this, &stop] {
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, kMostMsBetweenPods)),
                                 stop);
  };
  for (const oracle::Oracle::Mount& mount : mounts) {
    for (int i = 0; i < kPodsEach; ++i) {
      const auto [pod, is_new] = there->try_emplace(mount.pods + "-" + std::to_string(i));
      has_done = has_done || is_new;
      if (is_new) {
        Tell(path, pod->first, mount.provider_class, false, stop);
        pod->second = VersionIn(space);
      }
    }
  }
  for (const auto& [pod, version] : *there) {
    const auto of = std::ranges::find_if(
        mounts, [&](const auto& mount) { return pod.starts_with(mount.workload); });
    const bool lives = of != mounts.end() && (!of->is_through || pod.starts_with(of->pods));
    has_done = has_done || !lives || version != VersionIn(space);
    if (!lives) {
      (void)client_->Verb("DELETE").AbsPath(path + "/" + pod).Do(stop);
    } else if (version != VersionIn(space)) {
      Tell(path, pod, of->provider_class, true, stop);
      take_time();
    }
  }
  return has_done ? Found::kWork : Found::kNothing;
}

void CsiDriver::Tell(const std::string& path, const std::string& pod,
                     const std::string& provider_class, bool is_there,
                     const std::stop_token& stop) {
  const std::string space = path.substr(0, path.rfind('/'));
  const std::string status = R"("status":{"podName":")" + pod + R"(","secretProviderClassName":")" +
                             provider_class + R"(","mounted":true,"objects":[{"id":")" +
                             oracle::kObjectId + R"(","version":")" +
                             VersionIn(space.substr(space.rfind('/') + 1)) + R"("}]}})";
  if (is_there) {
    (void)client_->Patch(rest::PatchType::kMerge)
        .AbsPath(path + "/" + pod)
        .Body(codec::Encoding::kJson, "{" + status)
        .Do(stop);
    return;
  }
  (void)client_->Verb("POST")
      .AbsPath(path)
      .Body(codec::Encoding::kJson,
            R"({"apiVersion":"secrets-store.csi.x-k8s.io/v1",)"
            R"("kind":"SecretProviderClassPodStatus","metadata":{"name":")" +
                pod + R"("},)" + status)
      .Do(stop);
}

}  // namespace kubexx::simulation
