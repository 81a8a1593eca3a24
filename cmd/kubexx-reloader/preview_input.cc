#include "preview_input.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "kubexx/reloader/observe/unified_diff.h"

namespace kubexx {
namespace {

namespace fs = std::filesystem;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// Objects of etcd have at most 1.5 MiB; this is room for some hundreds.
constexpr std::size_t kMaxInput = std::size_t{256} << 20;
constexpr char kStandardInput[] = "the standard input";

/// `left`: how long it may be.
Result<std::string> ReadAll(std::istream& in, const std::string& name, std::size_t left) {
  std::string text;
  std::string part(std::size_t{1} << 16, '\0');
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
    text.append(part, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > left) {
      return Fail(Reason::kInvalidConfig,
                  name + " is too long: there may be 256 MiB of input in all");
    }
  }
  return text;
}

Result<std::string> ReadFile(const std::string& file, std::size_t left) {
  std::ifstream in(file, std::ios::binary);
  auto text = ReadAll(in, file, left);
  // A folder can be opened, but not be read.
  return !in.is_open() || in.bad() ? Fail(Reason::kInvalidConfig, file + " cannot be read")
                                   : std::move(text);
}

/// The top of the Git repository that the current folder is in; empty when it is in none.
fs::path TopOfRepository() {
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !folder.empty() && !error;
       folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) {
      return folder;
    }
    if (folder == folder.root_path()) {
      break;
    }
  }
  return {};
}

/// The name without the folder that git puts before it: "a/", "b/", or another letter.
std::string_view WithoutPrefix(std::string_view name) {
  return name.size() > 2 && name[1] == '/' ? name.substr(2) : name;
}

/// The files that a diff may mean by its names.
std::vector<fs::path> FilesNamed(const reloader::FileChange& change) {
  std::vector<fs::path> files;
  const fs::path top = TopOfRepository();
  for (const std::string& name : {change.after, change.before}) {
    if (name.empty()) {
      continue;
    }
    for (const std::string_view each : {WithoutPrefix(name), std::string_view(name)}) {
      for (const fs::path& path : {top / each, fs::path(each)}) {
        std::error_code error;
        if (fs::is_regular_file(path, error) && std::ranges::find(files, path) == files.end()) {
          files.push_back(path);
        }
      }
    }
  }
  return files;
}

/// Git's names are relative, and may have such a folder, too.
bool IsOfKubectlDiff(const std::string& name) {
  return name.starts_with('/') && (name.contains("/LIVE-") || name.contains("/MERGED-"));
}

bool MayDescribeObjects(const fs::path& file) {
  constexpr std::array<std::string_view, 3> kEndings{".yaml", ".yml", ".json"};
  return std::ranges::find(kEndings, file.extension().string()) != kEndings.end();
}

/// Reads inputs, which may not be larger than kMaxInput together.
class InputReader {
 public:
  Result<void> Add(const std::string& file) {
    const std::string name = file == "-" ? std::string(kStandardInput) : file;
    KX_ASSIGN_OR_RETURN(std::string text,
                        file == "-" ? ReadAll(std::cin, name, left_) : ReadFile(file, left_));
    left_ -= text.size();
    if (reloader::IsUnifiedDiff(text)) {
      return AddDiff(name, text);
    }
    input_.after.push_back({.name = name, .text = std::move(text)});
    return {};
  }
  Result<void> AddFolder(const std::string& folder, std::vector<reloader::InputText>& to) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
      files.push_back(each->path());
    }
    if (error) {
      return Fail(Reason::kInvalidConfig, folder + " cannot be read: " + error.message());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      KX_ASSIGN_OR_RETURN(std::string text, ReadFile(file.string(), left_));
      left_ -= text.size();
      to.push_back({.name = file.filename().string(), .text = std::move(text)});
    }
    return {};
  }
  PreviewInput& input() { return input_; }

 private:
  /// The files that a diff changes, as they are after it.
  Result<void> AddDiff(const std::string& name, const std::string& text) {
    auto changes = reloader::ParseUnifiedDiff(text);
    if (!changes) {
      return Fail(Reason::kInvalidConfig, name + ": " + changes.error().message);
    }
    for (const reloader::FileChange& change : *changes) {
      KX_RETURN_IF_ERROR(AddChange(name, change));
    }
    return {};
  }
  Result<void> AddChange(const std::string& diff, const reloader::FileChange& change) {
    const std::string& named = change.after.empty() ? change.before : change.after;
    if (IsOfKubectlDiff(named)) {
      return Fail(Reason::kInvalidConfig,
                  diff +
                      " is what `kubectl diff` prints; its files are gone by now. Let kubectl "
                      "call this program instead: KUBECTL_EXTERNAL_DIFF=\"kubexx-reloader "
                      "preview\" kubectl diff -f FILE");
    }
    if (!MayDescribeObjects(named)) {
      input_.left_out.push_back(named + " is neither a .yaml, .yml nor .json file");
      return {};
    }
    if (change.after.empty()) {
      input_.left_out.push_back(named + " is deleted; a preview is of objects that are there");
      return {};
    }
    KX_ASSIGN_OR_RETURN(std::string after, TextAfter(diff, named, change));
    const reloader::InputText text{.name = named, .text = std::move(after)};
    // A repository also has files that describe no objects, such as the values of a chart.
    if (const auto described = reloader::ReadSources({&text, 1}, "default"); !described) {
      input_.left_out.push_back(described.error().message);
      return {};
    }
    input_.after.push_back(text);
    return {};
  }

  /// The file after the change. Several may have the name; the one that fits it counts.
  Result<std::string> TextAfter(const std::string& diff, const std::string& named,
                                const reloader::FileChange& change) {
    if (change.before.empty()) {
      return reloader::FileAfter(change, {});
    }
    std::optional<apimachinery::Status> why;
    for (const fs::path& file : FilesNamed(change)) {
      KX_ASSIGN_OR_RETURN(const std::string content, ReadFile(file.string(), left_));
      left_ -= content.size();
      auto after = reloader::FileAfter(change, content);
      if (after) {
        return after;
      }
      why = why.value_or(after.error());
    }
    return Fail(Reason::kInvalidConfig,
                why ? named + " " + why->message
                    : diff + " changes " + named +
                          ", which is neither in this folder nor in its Git repository");
  }

  PreviewInput input_;
  std::size_t left_ = kMaxInput;
};

}  // namespace

Result<PreviewInput> ReadPreviewFiles(const std::vector<std::string>& files) {
  InputReader reader;
  for (const std::string& file : files) {
    KX_RETURN_IF_ERROR(reader.Add(file));
  }
  return std::move(reader.input());
}

Result<PreviewInput> ReadPreviewFolders(const std::string& before, const std::string& after) {
  InputReader reader;
  KX_RETURN_IF_ERROR(reader.AddFolder(before, reader.input().before));
  KX_RETURN_IF_ERROR(reader.AddFolder(after, reader.input().after));
  return std::move(reader.input());
}

bool AreFolders(const std::vector<std::string>& paths) {
  return paths.size() == 2 && std::ranges::all_of(paths, [](const std::string& path) {
           std::error_code error;
           return fs::is_directory(path, error);
         });
}

Result<std::map<reloader::SourceId, reloader::MaskedData>> MaskedSecretsIn(
    const PreviewInput& input, const reloader::DescribedSources& after,
    const std::string& namespace_) {
  std::map<reloader::SourceId, reloader::MaskedData> masked;
  KX_ASSIGN_OR_RETURN(const reloader::DescribedSources before,
                      reloader::ReadSources(input.before, namespace_));
  for (const reloader::DescribedSource& each : after.sources) {
    const auto live = std::ranges::find(before.sources, each.id, &reloader::DescribedSource::id);
    if (each.id.type == reloader::SourceType::kSecret) {
      masked[each.id] = reloader::MaskedDataOf(
          live == before.sources.end() ? nullptr : &live->object, each.object);
    }
  }
  std::erase_if(masked, [](const auto& each) { return each.second.empty(); });
  return masked;
}

}  // namespace kubexx
