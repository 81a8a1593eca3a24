/// @file
/// Pods in memory, for tests of reloads in place.
#ifndef KUBEXX_RELOADER_TESTING_FAKE_PODS_H_
#define KUBEXX_RELOADER_TESTING_FAKE_PODS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/in_place/pod_access.h"

namespace kubexx::reloader {

/// A cluster's pods, each with one container "app" that mounts the ConfigMap "config" at /config
/// and the ConfigMap "more" at /more. A kubelet that is asked (WantFiles) writes the present data,
/// unless the pod is stuck. Thread-safe.
class FakePods final : public PodAccess {
 public:
  struct Pod {
    api::core::v1::Pod object{};
    KeyHashes files{};                             ///< at /config
    KeyHashes more{};                              ///< at /more
    bool is_stuck = false;                         ///< its kubelet writes nothing
    std::optional<apimachinery::Status> look{};    ///< what looks fail with
    std::optional<apimachinery::Status> action{};  ///< what the action fails with
    bool ends_in_action = false;                   ///< with `action`: the pod is gone by then
    std::optional<int> look_code{};                ///< exit code of looks
    bool has_endless_directory = false;            ///< what `ls` prints is cut
    bool is_unready_after = false;                 ///< the action makes it so
    std::function<void()> before_action{};         ///< called without a lock
    int asked = 0;
    std::size_t longest_look = 0;  ///< the words of the longest command that only looks
    /// For each action the value of the key "key" that the program has read in /config.
    std::vector<std::string> read{};
    /// The same of /more.
    std::vector<std::string> read_more{};
  };

  /// Adds a running pod that has the present files. No two pods may have the same name, also in
  /// different namespaces.
  void Add(const std::string& pod_name, const std::string& uid,
           const std::string& namespace_ = "ns") {
    const base::MutexLock lock(mu_);
    Pod& pod = pods_[pod_name];
    pod = {};
    api::core::v1::Pod& object = pod.object;
    object.metadata.namespace_ = namespace_;
    object.metadata.name = pod_name;
    object.metadata.uid = uid;
    object.spec.node_name = "node";
    api::core::v1::Container& app = object.spec.containers.emplace_back();
    app.name = "app";
    for (const auto& [name, config_map] : {std::pair("v", "config"), std::pair("w", "more")}) {
      api::core::v1::Volume& volume = object.spec.volumes.emplace_back();
      volume.name = name;
      volume.volume_source.config_map.emplace().local_object_reference.name = config_map;
      app.volume_mounts.push_back({.name = name, .mount_path = std::string("/") + config_map});
    }
    api::core::v1::ContainerStatus& status = object.status.container_statuses.emplace_back();
    status.name = "app";
    status.state.running.emplace();
    object.status.conditions.push_back({.type = "Ready", .status = "True"});
    pod.files = data_;
    pod.more = more_;
  }
  void Delete(const std::string& name) {
    const base::MutexLock lock(mu_);
    pods_.erase(name);
    changed_.notify_all();
  }
  /// Changes a pod.
  template <class Edit>
  void Change(const std::string& name, Edit edit) {
    const base::MutexLock lock(mu_);
    edit(pods_.at(name));
  }
  Pod pod(const std::string& name) const {
    const base::MutexLock lock(mu_);
    return pods_.at(name);
  }
  /// Stores the data of the ConfigMap "config".
  void SetData(const std::string& value) {
    const base::MutexLock lock(mu_);
    value_of_[Sha256Of(value)] = value;
    data_ = {{"key", Sha256Of(value)}};
  }
  /// Stores those of the ConfigMap "more".
  void SetMore(const std::string& value) {
    const base::MutexLock lock(mu_);
    value_of_[Sha256Of(value)] = value;
    more_ = {{"key", Sha256Of(value)}};
  }
  void FailLists(std::optional<apimachinery::Status> status) {
    const base::MutexLock lock(mu_);
    lists_ = std::move(status);
  }
  /// Lets every call fail, as while the API server is away.
  void FailAll(std::optional<apimachinery::Status> status) {
    const base::MutexLock lock(mu_);
    all_ = std::move(status);
  }
  /// Lets pods not be read, unless in lists.
  void FailGets(std::optional<apimachinery::Status> status) {
    const base::MutexLock lock(mu_);
    gets_ = std::move(status);
  }
  /// Called at the begin of each list, without a lock.
  void OnList(std::function<void()> hook) {
    const base::MutexLock lock(mu_);
    on_list_ = std::move(hook);
  }
  int lists() const {
    const base::MutexLock lock(mu_);
    return listed_;
  }
  /// Waits until the pod's program has read its files `n` times; returns what it read.
  std::vector<std::string> AwaitReads(
      const std::string& name, std::size_t n,
      const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " reloads of " + name, where);
    while (pods_.at(name).read.size() < n) {
      patience.Wait(changed_, mu_, pods_.at(name).read.size());
    }
    return pods_.at(name).read;
  }
  /// Waits until the kubelet of the pod has been asked `n` times.
  void AwaitAsked(const std::string& name, int n,
                  const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " requests to " + name, where);
    while (pods_.at(name).asked < n) {
      patience.Wait(changed_, mu_, pods_.at(name).asked);
    }
  }

  apimachinery::Result<std::vector<api::core::v1::Pod>> PodsOf(const WorkloadId& workload,
                                                               const std::string&,
                                                               const std::stop_token&) override {
    std::function<void()> hook;
    {
      const base::MutexLock lock(mu_);
      ++listed_;
      hook = on_list_;
    }
    if (hook) {
      hook();
    }
    const base::MutexLock lock(mu_);
    if (all_ || lists_) {
      return apimachinery::Fail(all_ ? *all_ : *lists_);
    }
    std::vector<api::core::v1::Pod> pods;
    for (const auto& [name, pod] : pods_) {
      if (pod.object.metadata.namespace_ == workload.key.namespace_) {
        pods.push_back(pod.object);
      }
    }
    return pods;
  }
  apimachinery::Result<api::core::v1::Pod> Get(const apimachinery::ObjectKey& pod,
                                               const std::stop_token&) override {
    const base::MutexLock lock(mu_);
    if (all_ || gets_) {
      return apimachinery::Fail(all_ ? *all_ : *gets_);
    }
    const auto found = pods_.find(pod.name);
    return found == pods_.end() ? NotFound(pod.name)
                                : apimachinery::Result<api::core::v1::Pod>(found->second.object);
  }
  apimachinery::Result<void> WantFiles(const apimachinery::ObjectKey& pod, const std::string& uid,
                                       const std::string&, const std::stop_token&) override {
    const base::MutexLock lock(mu_);
    if (all_) {
      return apimachinery::Fail(*all_);
    }
    const auto found = pods_.find(pod.name);
    if (found == pods_.end()) {
      return NotFound(pod.name);
    }
    if (found->second.object.metadata.uid != uid) {
      return apimachinery::Fail(apimachinery::Reason::kConflict, "another UID", 409);
    }
    ++found->second.asked;
    if (!found->second.is_stuck) {
      found->second.files = data_;
      found->second.more = more_;
    }
    changed_.notify_all();
    return {};
  }
  apimachinery::Result<CommandEnd> Look(const apimachinery::ObjectKey& pod, const std::string&,
                                        const std::vector<std::string>& command,
                                        const std::stop_token&) override {
    const base::MutexLock lock(mu_);
    if (all_) {
      return apimachinery::Fail(*all_);
    }
    const auto found = pods_.find(pod.name);
    if (found == pods_.end()) {
      return NotFound(pod.name);
    }
    Pod& in = found->second;
    if (in.look) {
      return apimachinery::Fail(*in.look);
    }
    in.longest_look = std::max(in.longest_look, command.size());
    CommandEnd end{.code = in.look_code.value_or(0)};
    for (const auto& [directory, files] :
         {std::pair("/config", &in.files), std::pair("/more", &in.more)}) {
      for (const auto& [key, hash] : *files) {
        const std::string path = std::string(directory) + "/" + key;
        if (command.front() == "ls" && command.back() == directory) {
          end.output += key + "\n";
        } else if (std::ranges::find(command, path) != command.end()) {
          end.output += hash + "  " + path + "\n";
        }
      }
    }
    if (in.has_endless_directory && command.front() == "ls") {
      end.output.resize(kMaxOutputBytes, 'x');
    }
    return end;
  }
  apimachinery::Result<void> RunAction(const apimachinery::ObjectKey& pod, const std::string&,
                                       const ReloadAction&, const std::stop_token&) override {
    std::function<void()> before;
    {
      const base::MutexLock lock(mu_);
      if (const auto found = pods_.find(pod.name); found != pods_.end()) {
        before = found->second.before_action;
      }
    }
    if (before) {
      before();
    }
    const base::MutexLock lock(mu_);
    if (all_) {
      return apimachinery::Fail(*all_);
    }
    const auto found = pods_.find(pod.name);
    if (found == pods_.end()) {
      return NotFound(pod.name);
    }
    Pod& in = found->second;
    if (in.action) {
      apimachinery::Status failure = *in.action;
      if (in.ends_in_action) {
        pods_.erase(found);
      }
      return apimachinery::Fail(std::move(failure));
    }
    in.read.push_back(in.files.contains("key") ? value_of_[in.files["key"]] : "");
    in.read_more.push_back(in.more.contains("key") ? value_of_[in.more["key"]] : "");
    if (in.is_unready_after) {
      in.object.status.conditions.front().status = "False";
    }
    changed_.notify_all();
    return {};
  }
  apimachinery::Result<std::optional<KeyHashes>> HashesOf(const SourceId& source,
                                                          const std::stop_token&) override {
    const base::MutexLock lock(mu_);
    return std::optional(source.key.name == "more" ? more_ : data_);
  }

 private:
  static apimachinery::Error NotFound(const std::string& name) {
    apimachinery::Status status(apimachinery::Reason::kNotFound, "pods \"" + name + "\" not found",
                                404);
    status.details.name = name;
    return apimachinery::Fail(std::move(status));
  }

  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::map<std::string, Pod> pods_ KX_GUARDED_BY(mu_);
  KeyHashes data_ KX_GUARDED_BY(mu_);
  KeyHashes more_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string> value_of_ KX_GUARDED_BY(mu_);
  std::function<void()> on_list_ KX_GUARDED_BY(mu_);
  int listed_ KX_GUARDED_BY(mu_) = 0;
  std::optional<apimachinery::Status> lists_ KX_GUARDED_BY(mu_);
  std::optional<apimachinery::Status> gets_ KX_GUARDED_BY(mu_);
  std::optional<apimachinery::Status> all_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_TESTING_FAKE_PODS_H_
