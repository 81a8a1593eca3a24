// kubexx-convert: API objects between JSON, YAML and protobuf.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/api/registry.gen.h"
#include "kubexx/codec/convert.h"
#include "kubexx/flags/flags.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using codec::FileFormat;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr const char* kDescription =
    R"(Converts Kubernetes API objects between JSON, YAML and protobuf, from standard input to standard output.
Reads protobuf as etcd stores it, with or without its "k8s\0" envelope.

Objects of built-in kinds are checked and written in canonical form, without unknown fields. Objects of other
kinds pass between JSON and YAML untouched.

Examples:
  kubexx-convert --to yaml < deployment.json
  kubexx-convert --to protobuf --input deployment.yaml --output deployment.pb
  etcdctl get --print-value-only /registry/pods/default/web | kubexx-convert --to yaml
  kubexx-convert --from protobuf --type v1/Pod < message.pb

Exit codes: 0 converted, 1 the input cannot be read or converted, 2 wrong usage.)";

struct Flags {
  codec::ConvertOptions convert{};
  std::string from = "auto";
  std::string to = "json";
  std::string input{};
  std::string output{};
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

int Complain(const std::string& message) {
  std::fprintf(stderr, "kubexx-convert: %s\n", message.c_str());
  return kFailed;
}

bool ReadAll(std::FILE* file, std::string& out) {
  char buffer[64 << 10];
  std::size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
    out.append(buffer, count);
  }
  return std::ferror(file) == 0;
}

int ReadInput(const std::string& path, std::string& out) {
  if (path.empty() || path == "-") {
    return ReadAll(stdin, out) ? 0 : Complain("cannot read standard input");
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr || !ReadAll(file.get(), out)) {
    return Complain("cannot read " + path + ": " + std::strerror(errno));
  }
  return 0;
}

int WriteOutput(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") {
    const bool ok =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return ok ? 0 : Complain("cannot write standard output");
  }
  const File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    return Complain("cannot write " + path + ": " + std::strerror(errno));
  }
  return 0;
}

FileFormat FormatOf(std::string_view text) {
  return text == "json"       ? FileFormat::kJson
         : text == "yaml"     ? FileFormat::kYaml
         : text == "protobuf" ? FileFormat::kProtobuf
                              : FileFormat::kAuto;
}

void AddFlags(flags::FlagSet& set, Flags& flags) {
  set.AddChoice("from", "Format of the input", {"auto", "json", "yaml", "protobuf"}, &flags.from);
  set.AddChoice("to", "Format of the output", {"json", "yaml", "protobuf"}, &flags.to);
  set.AddString("type", "Type of objects that do not name theirs, as apps/v1/Deployment or v1/Pod",
                &flags.convert.type);
  set.AddString("input", "File to read instead of standard input", &flags.input);
  set.AddString("output", "File to write instead of standard output", &flags.output);
  set.AddBool("compact", "Write JSON on one line", &flags.convert.compact);
}

int Main(int argc, char** argv) {
  Flags flags;
  flags::FlagSet set("kubexx-convert", kDescription, KUBEXX_VERSION);
  AddFlags(set, flags);
  if (const auto exit_code = set.ParseOrExitCode(argc, argv, kUsage)) {
    return *exit_code;
  }
  flags.convert.from = FormatOf(flags.from);
  flags.convert.to = FormatOf(flags.to);
  std::string input;
  if (const int failed = ReadInput(flags.input, input)) {
    return failed;
  }
  const auto converted = codec::Convert(input, flags.convert, api::Registry());
  if (!converted) {
    return Complain(converted.error().message);
  }
  return WriteOutput(flags.output, *converted);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory
    return Complain(error.what());
  }
}
