// kubexx-codegen: C++ types of custom resources from their definitions.

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
    R"(Writes KIND_VERSION.gen.h and KIND_VERSION.gen.cc for each served version of the CustomResourceDefinitions in
YAML or JSON files: structs with the descriptions of the definition as comments, constants for the values
of its enumerations, the tables of the codec and the resource, ready for kubernetes::ResourceClient<KIND>,
informers and controllers.

Properties that are not required become std::optional or apimachinery::Box. Values that no struct can hold stay
JSON text. A list of conditions with the fields, types and required fields of Kubernetes' own is a list of
meta::v1::Condition. When two definitions need the same name in the same namespace, nothing is written.

Examples:
  kubexx-codegen website.yaml
  kubexx-codegen --out src/generated --namespace web::v1 crds/*.yaml

Exit codes: 0 written (with --verify: nothing differs), 1 a file cannot be read, used or written, or
differs, 2 wrong usage.)";

struct Flags {
  std::string out = ".";
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
        taken->second.default_namespace != owner.default_namespace
            ? "without --namespace each has a namespace of its own"
            : "put them into two files, and run this once for each with a --namespace of its own";
    return Fail(Reason::kInvalid, taken->second.what + " and " + owner.what +
                                      " would both define " + taken->first + "; " + advice);
  }
  return {};
}

/// The files by name.
Result<std::map<std::string, std::string>> Generate(const Flags& flags) {
  std::map<std::string, std::string> files;
  std::map<std::string, Owner> owners;
  for (const std::string& path : flags.files) {
    KX_ASSIGN_OR_RETURN(const std::string text, ReadDefinitionFile(path));
    const auto versions = crdgen::ReadDefinitions(text);
    if (!versions) {
      return versions.error().WithContext(path);
    }
    for (const crdgen::Version& version : *versions) {
      const std::string namespace_ =
          flags.namespace_.empty() ? crdgen::NamespaceOf(version) : flags.namespace_;
      const std::string name = crdgen::FileNameOf(version);
      if (!files.emplace(name + ".h", crdgen::HeaderOf(version, namespace_)).second) {
        return Fail(Reason::kInvalid, path + ": two resources would be written to " + name +
                                          ".h; run this once for each with an --out of its own");
      }
      files.emplace(name + ".cc", crdgen::SourceOf(version, namespace_));
      if (auto taken = TakeNames(version, namespace_, owners); !taken) {
        return taken.error().WithContext(path);
      }
    }
  }
  return files;
}

Result<void> Run(const Flags& flags) {
  KX_ASSIGN_OR_RETURN(const auto files, Generate(flags));
  std::string different;
  for (const auto& [name, text] : files) {
    const auto path = std::filesystem::path(flags.out.empty() ? "." : flags.out) / name;
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

int Main(int argc, char** argv) {
  Flags flags;
  flags::FlagSet set("kubexx-codegen", kDescription, KUBEXX_VERSION);
  set.AddString("out", "Folder to write to; created if it does not exist", &flags.out);
  set.AddString("namespace",
                "C++ namespace of the types; by default from group and version: example_com::v1",
                &flags.namespace_);
  set.AddBool("verify", "Write nothing; fail if a file differs from what would be written",
              &flags.verify);
  set.AllowArguments("FILE...", &flags.files);
  if (const auto exit_code = set.ParseOrExitCode(argc, argv, kUsage)) {
    return *exit_code;
  }
  if (!flags.namespace_.empty() && !crdgen::IsNamespace(flags.namespace_)) {
    std::fprintf(stderr,
                 "kubexx-codegen: --namespace '%s' is not a C++ namespace: it must be identifiers "
                 "joined by '::', without keywords, macros and 'std'\n",
                 flags.namespace_.c_str());
    return kUsage;
  }
  if (flags.files.empty()) {
    std::fputs("kubexx-codegen: no files are given (--help tells more)\n", stderr);
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
