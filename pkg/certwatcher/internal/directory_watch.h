/// @file
/// Notices changes in directories.
#ifndef KUBEXX_CERTWATCHER_INTERNAL_DIRECTORY_WATCH_H_
#define KUBEXX_CERTWATCHER_INTERNAL_DIRECTORY_WATCH_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace kubexx::certwatcher::internal {

/// Calls back on a thread of its own after something in one of the directories was written,
/// created, renamed or removed. Best effort: where inotify does not work, or once a directory
/// itself is replaced, nothing is called.
class DirectoryWatch {
 public:
  DirectoryWatch(const std::vector<std::string>& directories, std::function<void()> on_change);
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;
  ~DirectoryWatch();

 private:
  void Run() const;

  std::function<void()> on_change_;
  int inotify_ = -1;
  int wake_ = -1;
  std::jthread thread_;
};

}  // namespace kubexx::certwatcher::internal

#endif  // KUBEXX_CERTWATCHER_INTERNAL_DIRECTORY_WATCH_H_
