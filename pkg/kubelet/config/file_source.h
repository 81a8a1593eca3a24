/// @file
/// FileSource: the static pods of a directory.
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

/// The problems with manifests: for each its place and reason.
using ManifestProblems = std::vector<std::pair<std::string, apimachinery::Status>>;

/// Reads the manifests at `path`, which is a file or a directory. In a directory, files whose name
/// begins with a dot are ignored; a subdirectory and a pod with the UID of an earlier one count as
/// problems. Files of more than 10 MB are not read. Returns no pods when nothing exists at `path`;
/// kUnavailable when it exists and cannot be read.
apimachinery::Result<std::vector<Pod>> ReadManifests(const std::string& path,
                                                     const std::string& node_name,
                                                     ManifestProblems& problems);

/// Passes the pods of the manifests at a path to the sink: at the start, after each change
/// (inotify), and every `interval`. It leaves out and reports a bad manifest, and passes the
/// others. When the directory cannot be read, it passes nothing. As the kubelet's NewSourceFile.
/// Has two threads of its own; the destructor stops them.
class FileSource {
 public:
  /// The place of the manifests, and how to follow their changes.
  struct Options {
    std::string path{};
    std::string node_name{};
    std::chrono::milliseconds interval = std::chrono::seconds(20);
    base::Clock& clock = base::Clock::Real();
    /// Called with all problems whenever they have changed, on the source's thread; by default, new
    /// problems are logged.
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
