#include "kubexx/kubelet/config/file_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "kubexx/apimachinery/read_file.h"
#include "kubexx/kubelet/config/static_pod.h"
#include "kubexx/logging/log.h"

namespace kubexx::kubelet {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
namespace fs = std::filesystem;

constexpr std::size_t kMaxManifest = std::size_t{10} << 20;

Result<Pod> ReadManifest(const fs::path& path, const std::string& node_name) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    return Fail(Reason::kInvalid, "is a directory; it is not searched for manifests");
  }
  // A pipe would never end.
  if (!fs::is_regular_file(status)) {
    return Fail(Reason::kInvalid, "is not a regular file");
  }
  KX_ASSIGN_OR_RETURN(const std::string bytes,
                      apimachinery::ReadFile(path.native(), {.max_bytes = kMaxManifest}));
  KX_ASSIGN_OR_RETURN(std::vector<Pod> pods, ParseManifest(bytes, {.node_name = node_name,
                                                                   .source = kFileSource,
                                                                   .location = path.native()}));
  return std::move(pods.front());
}

Result<std::vector<fs::path>> FilesAt(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return std::vector<fs::path>();
  }
  if (error) {
    return Fail(Reason::kUnavailable, path.native() + ": " + error.message());
  }
  if (!fs::is_directory(status)) {
    return std::vector<fs::path>{path};
  }
  std::vector<fs::path> files;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!entry->path().filename().native().starts_with('.')) {
      files.push_back(entry->path());
    }
  }
  if (error) {
    return Fail(Reason::kUnavailable, path.native() + ": " + error.message());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<Pod>> ReadManifests(const std::string& path, const std::string& node_name,
                                       ManifestProblems& problems) {
  KX_ASSIGN_OR_RETURN(const std::vector<fs::path> files, FilesAt(path));
  std::vector<Pod> pods;
  std::map<std::string, std::string> file_of;  // by UID
  for (const fs::path& file : files) {
    auto pod = ReadManifest(file, node_name);
    if (std::error_code error; !pod && !fs::exists(fs::symlink_status(file, error))) {
      continue;  // renamed or removed since the directory was listed: that is a change of its own
    }
    if (pod) {
      // Pods are known by their UIDs: one of two would be lost, and nothing said.
      const auto [first, is_new] = file_of.try_emplace(pod->metadata.uid, file.native());
      if (!is_new) {
        problems.emplace_back(
            file.native(),
            Status(Reason::kInvalid, "has the same metadata.uid as " + first->second));
        continue;
      }
      pods.push_back(*std::move(pod));
    } else {
      problems.emplace_back(file.native(), pod.error());
    }
  }
  return pods;
}

void LogProblems(const ManifestProblems& problems) {
  for (const auto& [where, status] : problems) {
    logging::Error("Skipped a manifest", {{"manifest", where}, {"error", status}});
  }
}

FileSource::FileSource(Options options, PodSink sink)
    : options_(std::move(options)),
      sink_(std::move(sink)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void FileSource::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Watch();
    {
      const base::MutexLock lock(mu_);
      changed_ = false;
    }
    Read();
    const base::TimePoint next = options_.clock.Now() + options_.interval;
    const base::MutexLock lock(mu_);
    while (!changed_ && !stop.stop_requested() &&
           options_.clock.WaitUntil(mu_, wake_, stop, next) == base::Wake::kNotified) {
    }
  }
  watch_.reset();
}

// Before reading, so that no change falls between. A directory that was replaced is another one.
void FileSource::Watch() {
  struct stat info{};
  if (::stat(options_.path.c_str(), &info) != 0) {
    watched_ = {};
    watch_.reset();
    return;
  }
  const std::pair<unsigned long long, unsigned long long> now{info.st_dev, info.st_ino};
  if (watch_ && watched_ == now) {
    return;
  }
  watched_ = now;
  const fs::path path(options_.path);
  const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const std::string directory = S_ISDIR(info.st_mode) ? options_.path : parent.native();
  watch_ = std::make_unique<base::DirectoryWatch>(std::vector<std::string>{directory}, [this] {
    const base::MutexLock lock(mu_);
    changed_ = true;
    wake_.notify_all();
  });
  for (const std::string& unwatched : watch_->unwatched()) {
    logging::Warning("Cannot watch a directory for changes; it is read at intervals only",
                     {{"directory", unwatched}});
  }
}

void FileSource::Read() {
  ManifestProblems problems;
  auto pods = ReadManifests(options_.path, options_.node_name, problems);
  if (!pods) {
    problems.emplace_back(options_.path, pods.error());
  }
  if (problems != problems_) {
    const ManifestProblems before = std::exchange(problems_, problems);
    if (options_.on_problems) {
      options_.on_problems(problems);
    } else {
      std::erase_if(problems, [&before](const auto& problem) {
        return std::ranges::find(before, problem) != before.end();
      });
      LogProblems(problems);
    }
  }
  if (pods) {
    sink_(*std::move(pods));
  }
}

}  // namespace kubexx::kubelet
