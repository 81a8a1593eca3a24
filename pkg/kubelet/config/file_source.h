/// @file
/// Static pods of a directory.
#ifndef KUBEXX_KUBELET_CONFIG_FILE_SOURCE_H_
#define KUBEXX_KUBELET_CONFIG_FILE_SOURCE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/directory_watch.h"
#include "kubexx/base/mutex.h"
#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::kubelet {

/// What is wrong with one manifest: where, and why.
using ManifestProblems = std::vector<std::pair<std::string, apimachinery::Status>>;

/// Reads the manifests at `path`: a file, or a directory's files without those whose name begins
/// with a dot; folders in it are a problem each, and so is a pod with the UID of one before. Files
/// of more than 10 MB are not read. Nothing at `path` is no pods; kUnavailable when it is there and
/// cannot be read.
apimachinery::Result<std::vector<Pod>> ReadManifests(const std::string& path,
                                                     const std::string& node_name,
                                                     ManifestProblems& problems);

/// Gives the pods of the manifests at a path to the sink: once at the start, after each change
/// (inotify) and every `interval` in any case. A bad manifest is left out and reported, the others
/// count. A directory that cannot be read changes nothing. As the kubelet's NewSourceFile. Two
/// threads of its own; the destructor stops.
class FileSource {
 public:
  /// Where the manifests are, and how to follow them.
  struct Options {
    std::string path{};
    std::string node_name{};
    std::chrono::milliseconds interval = std::chrono::seconds(20);
    base::Clock& clock = base::Clock::Real();
    /// Told all that is wrong whenever that has changed; by default what is new of it is logged. On
    /// the source's thread.
    std::function<void(const ManifestProblems&)> on_problems{};
  };
  FileSource(Options options, PodSink sink);
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

 private:
  void Run(const std::stop_token& stop);
  void Watch();
  void Read();

  const Options options_;
  const PodSink sink_;
  ManifestProblems problems_{};
  std::pair<unsigned long long, unsigned long long> watched_{};  ///< device and inode
  base::Mutex mu_;
  base::CondVar wake_;
  bool changed_ KX_GUARDED_BY(mu_) = true;
  std::unique_ptr<base::DirectoryWatch> watch_;
  std::jthread thread_;
};

/// Logs each problem.
void LogProblems(const ManifestProblems& problems);

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_FILE_SOURCE_H_
