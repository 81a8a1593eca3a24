// kubexx-codegen: C++ types of custom resources from their definitions, and definitions from C++
// types.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "kubexx/apimachinery/read_file.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/emit.h"
#include "kubexx/crdgen/header_kinds.h"
#include "kubexx/crdgen/model.h"
#include "kubexx/crdgen/names.h"
#include "kubexx/flags/flags.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

/// Far more than any definition has.
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

constexpr const char* kDescription =
    R"(Writes what programs need for custom resources, in one of two directions.

From CustomResourceDefinitions in YAML or JSON files: KIND_VERSION.gen.h and KIND_VERSION.gen.cc for each served
version, with structs that have the descriptions of the definition as comments, constants for the values of its
enumerations, the tables of the codec and the resource, ready for kubernetes::ResourceClient<KIND>, informers and
controllers. Properties that are not required become std::optional or apimachinery::Box. Values that no struct can
hold stay JSON text. A list of conditions with the fields, types and required fields of Kubernetes' own is a list of
meta::v1::Condition.

From C++ headers (.h, .hh, .hpp, .hxx) with structs that have controller-gen's markers in their comments
(+kubebuilder:object:root=true, +kubebuilder:validation:Minimum=1, ...): GROUP_PLURAL.yaml, the
CustomResourceDefinition, and KIND_VERSION.gen.h and KIND_VERSION.gen.cc, which include the header and have the tables
and the resource for its own structs. Headers of one kind are its versions.

When two definitions need the same name in the same namespace, or anything in a file is not understood, nothing is
written.

Examples:
  kubexx-codegen website.yaml
  kubexx-codegen --out src/generated --namespace web::v1 crds/*.yaml
  kubexx-codegen --out src --crds manifests src/website.h

Exit codes: 0 written (with --verify: nothing differs), 1 a file cannot be read, used or written, or
differs, 2 wrong usage.)";

struct Flags {
  std::string out = ".";
  std::string crds{};
  std::string namespace_{};
  bool verify = false;
  std::vector<std::string> files{};
};

std::string Why() { return std::strerror(errno); }

Result<std::string> ReadDefinitionFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Fail(Reason::kInvalidConfig, path + " is a folder; give its files");
  }
  return apimachinery::ReadFile(path, {.max_bytes = kMaxFileBytes});
}

/// kInvalidConfig if something else than a folder is in the place of a folder.
Result<void> CheckFolder(std::filesystem::path folder) {
  std::error_code error;
  while (!folder.empty() && !std::filesystem::exists(folder, error)) {
    folder = folder.parent_path();
  }
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    return Fail(Reason::kInvalidConfig, folder.string() + " is no folder");
  }
  return {};
}

Result<void> WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    return Fail(Reason::kInvalidConfig, path.parent_path().string() + ": " + error.message());
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    return Fail(Reason::kInvalidConfig, path.string() + ": " + Why());
  }
  return {};
}

/// Who has taken a name in a namespace.
struct Owner {
  std::string what{};
  std::string default_namespace{};
};

/// Takes the names of `version`; kInvalid when one is taken, since code with two of it does not
/// compile, or does not link.
Result<void> TakeNames(const crdgen::Version& version, const std::string& namespace_,
                       std::map<std::string, Owner>& owners) {
  const Owner owner{version.What(), crdgen::NamespaceOf(version)};
  for (const std::string& name : version.names) {
    const auto [taken, is_new] = owners.try_emplace(namespace_ + "::" + name, owner);
    if (is_new) {
      continue;
    }
    const std::string advice =
        !version.header.empty() ? "give one of them another name"
        : taken->second.default_namespace != owner.default_namespace
            ? "without --namespace each has a namespace of its own"
            : "put them into two files, and run this once for each with a --namespace of its own";
    return Fail(Reason::kInvalid, taken->second.what + " and " + owner.what +
                                      " would both define " + taken->first + "; " + advice);
  }
  return {};
}

bool IsHeader(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".h" || extension == ".hh" || extension == ".hpp" || extension == ".hxx";
}

/// How code in `folder` includes a header. Behind a link ".." leads to another folder than the text
/// of the path says; there the real folders are taken, and the names that were given elsewhere.
std::string IncludeOf(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto whole = [](const std::filesystem::path& part) {
    return std::filesystem::absolute(part).lexically_normal();
  };
  const std::filesystem::path given =
      whole(path).lexically_relative(whole(folder / "file").parent_path());
  std::error_code error;
  const std::filesystem::path from =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder), error);
  const std::filesystem::path parent =
      std::filesystem::canonical(std::filesystem::absolute(path).parent_path(), error);
  if (from.empty() || parent.empty() ||
      std::filesystem::weakly_canonical((from / given).lexically_normal(), error) ==
          std::filesystem::canonical(path, error)) {
    return given.generic_string();
  }
  return (parent / path.filename()).lexically_relative(from).generic_string();
}

/// The text of each file that is to be written.
class Files {
 public:
  explicit Files(const Flags& flags)
      : out_(flags.out.empty() ? "." : flags.out),
        crds_(flags.crds.empty() ? out_ : std::filesystem::path(flags.crds)) {}

  /// The code of a version that `path` describes.
  Result<void> AddCode(const crdgen::Version& version, const std::string& namespace_,
                       const std::string& path) {
    const std::string name = crdgen::FileNameOf(version);
    if (!files_.emplace(out_ / (name + ".h"), crdgen::HeaderOf(version, namespace_)).second) {
      return Fail(Reason::kInvalid, path + ": two resources would be written to " + name +
                                        ".h; run this once for each with an --out of its own");
    }
    files_.emplace(out_ / (name + ".cc"), crdgen::SourceOf(version, namespace_));
    if (auto taken = TakeNames(version, namespace_, owners_); !taken) {
      return taken.error().WithContext(path);
    }
    return {};
  }
  Result<void> AddDefinition(const crdgen::HeaderKind& kind, const std::string& path) {
    if (!files_.emplace(crds_ / kind.definition_file, kind.definition).second) {
      return Fail(Reason::kInvalid, path + ": two definitions would be written to " +
                                        kind.definition_file +
                                        "; two kinds of a group cannot have the same plural");
    }
    return {};
  }

  const std::filesystem::path& out() const { return out_; }
  const std::map<std::filesystem::path, std::string>& files() const { return files_; }

 private:
  std::filesystem::path out_;
  std::filesystem::path crds_;
  std::map<std::filesystem::path, std::string> files_;
  std::map<std::string, Owner> owners_;
};

Result<void> AddDefinitions(const std::string& path, const std::string& namespace_, Files& files) {
  KX_ASSIGN_OR_RETURN(const std::string text, ReadDefinitionFile(path));
  const auto versions = crdgen::ReadDefinitions(text);
  if (!versions) {
    return versions.error().WithContext(path);
  }
  for (const crdgen::Version& version : *versions) {
    KX_RETURN_IF_ERROR(files.AddCode(
        version, namespace_.empty() ? crdgen::NamespaceOf(version) : namespace_, path));
  }
  return {};
}

Result<void> AddHeaders(const std::vector<std::string>& paths, Files& files) {
  std::vector<crdgen::HeaderText> headers;
  for (const std::string& path : paths) {
    KX_ASSIGN_OR_RETURN(const std::string text, ReadDefinitionFile(path));
    headers.push_back({.path = path, .include = IncludeOf(path, files.out()), .text = text});
  }
  KX_ASSIGN_OR_RETURN(const std::vector<crdgen::HeaderKind> kinds, crdgen::ReadKinds(headers));
  for (const crdgen::HeaderKind& kind : kinds) {
    for (const crdgen::HeaderVersion& version : kind.versions) {
      KX_RETURN_IF_ERROR(files.AddCode(version.version, version.namespace_, version.path));
    }
    KX_RETURN_IF_ERROR(files.AddDefinition(kind, kind.versions[0].path));
    for (const std::string& warning : kind.warnings) {
      std::fprintf(stderr, "kubexx-codegen: warning: %s\n", warning.c_str());
    }
  }
  return {};
}

Result<void> Run(const Flags& flags) {
  Files files(flags);
  std::vector<std::string> headers;
  for (const std::string& path : flags.files) {
    if (IsHeader(path)) {
      headers.push_back(path);
    } else {
      KX_RETURN_IF_ERROR(AddDefinitions(path, flags.namespace_, files));
    }
  }
  KX_RETURN_IF_ERROR(AddHeaders(headers, files));
  for (const auto& [path, text] : files.files()) {
    KX_RETURN_IF_ERROR(CheckFolder(path.parent_path()));
  }
  std::string different;
  for (const auto& [path, text] : files.files()) {
    if (!flags.verify) {
      KX_RETURN_IF_ERROR(WriteFile(path, text));
      std::printf("wrote %s\n", path.c_str());
    } else if (const auto present = apimachinery::ReadFile(path, {.max_bytes = kMaxFileBytes});
               !present || *present != text) {
      different += " " + path.string();
    }
  }
  if (!different.empty()) {
    return Fail(Reason::kInvalid, "out of date, run this again without --verify:" + different);
  }
  return {};
}

/// Why the flags and files do not go together; "" if they do.
std::string MisuseOf(const Flags& flags) {
  if (!flags.namespace_.empty() && !crdgen::IsNamespace(flags.namespace_)) {
    return "--namespace '" + flags.namespace_ +
           "' is not a C++ namespace: it must be identifiers joined by '::', without keywords, "
           "macros and 'std'";
  }
  if (flags.files.empty()) {
    return "no files are given (--help tells more)";
  }
  const auto headers = std::ranges::count_if(flags.files, IsHeader);
  if (!flags.namespace_.empty() && headers > 0) {
    return "--namespace is for definitions; the types of a header are in the namespace that it has";
  }
  if (!flags.crds.empty() && headers == 0) {
    return "--crds is for headers; no header is given";
  }
  return {};
}

int Main(int argc, char** argv) {
  Flags flags;
  flags::FlagSet set("kubexx-codegen", kDescription, KUBEXX_VERSION);
  set.AddString("out", "Folder to write to; created if it does not exist", &flags.out);
  set.AddString("namespace",
                "C++ namespace of the types; by default from group and version: example_com::v1",
                &flags.namespace_);
  set.AddString("crds",
                "Folder for the definitions that come from headers; by default that of --out",
                &flags.crds);
  set.AddBool("verify", "Write nothing; fail if a file differs from what would be written",
              &flags.verify);
  set.AllowArguments("FILE...", &flags.files);
  if (const auto exit_code = set.ParseOrExitCode(argc, argv, kUsage)) {
    return *exit_code;
  }
  if (const std::string misuse = MisuseOf(flags); !misuse.empty()) {
    std::fprintf(stderr, "kubexx-codegen: %s\n", misuse.c_str());
    return kUsage;
  }
  if (const auto ran = Run(flags); !ran) {
    std::fprintf(stderr, "kubexx-codegen: %s\n", ran.error().message.c_str());
    return kFailed;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory
    std::fprintf(stderr, "kubexx-codegen: %s\n", error.what());
    return kFailed;
  }
}
