/// @file
/// DirectoryWatch: notices changes in directories.
#ifndef KUBEXX_BASE_DIRECTORY_WATCH_H_
#define KUBEXX_BASE_DIRECTORY_WATCH_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/file_descriptor.h"

namespace kubexx::base {

/// Calls `on_change`, on a thread of its own, after something in one of the directories was
/// written, created, renamed or removed. It is best effort: nothing is called where inotify does
/// not work, or after a directory itself was replaced. Thread-safe.
class DirectoryWatch {
 public:
  DirectoryWatch(const std::vector<std::string>& directories, std::function<void()> on_change);
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;
  ~DirectoryWatch();

  /// Returns the directories that cannot be watched.
  const std::vector<std::string>& unwatched() const { return unwatched_; }

 private:
  void Run() const;

  std::function<void()> on_change_;
  std::vector<std::string> unwatched_{};
  FileDescriptor inotify_;
  FileDescriptor wake_;
  std::jthread thread_;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_DIRECTORY_WATCH_H_
