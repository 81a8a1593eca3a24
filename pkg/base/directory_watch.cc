#include "kubexx/base/directory_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace kubexx::base {

DirectoryWatch::DirectoryWatch(const std::vector<std::string>& directories,
                               std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      wake_(::eventfd(0, EFD_CLOEXEC)) {
  for (const std::string& directory : directories) {
    const bool added =
        inotify_.get() >= 0 &&
        ::inotify_add_watch(inotify_.get(), directory.c_str(),
                            IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ONLYDIR) >= 0;
    if (!added) {
      unwatched_.push_back(directory);
    }
  }
  if (unwatched_.size() < directories.size() && wake_.get() >= 0) {
    thread_ = std::jthread([this] { Run(); });
  }
}

DirectoryWatch::~DirectoryWatch() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
    thread_.join();
  }
}

void DirectoryWatch::Run() const {
  std::array<pollfd, 2> waits{pollfd{inotify_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
  while (true) {
    if (::poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return;
    }
    if (waits[1].revents != 0) {
      return;
    }
    // What exactly happened does not matter.
    std::array<char, 4096> events{};
    while (::read(inotify_.get(), events.data(), events.size()) > 0) {
    }
    on_change_();
  }
}

}  // namespace kubexx::base
