// kubexx-convert: API objects between JSON, YAML and protobuf.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/api/registry.gen.h"
#include "kubexx/codec/convert.h"

namespace {

using kubexx::codec::FileFormat;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr std::string_view kDescription =
    "Converts Kubernetes API objects between JSON, YAML and protobuf, from standard input to "
    "standard output.\n"
    "Reads protobuf as etcd stores it, with or without its \"k8s\\0\" envelope.";

constexpr std::string_view kFooter = R"(
Objects of built-in kinds are checked and written in canonical form, without unknown fields. Objects of other
kinds pass between JSON and YAML untouched.

Examples:
  kubexx-convert --to yaml < deployment.json
  kubexx-convert --to protobuf --input deployment.yaml --output deployment.pb
  etcdctl get --print-value-only /registry/pods/default/web | kubexx-convert --to yaml
  kubexx-convert --from protobuf --type v1/Pod < message.pb

Exit codes: 0 converted, 1 the input cannot be read or converted, 2 wrong usage.
)";

constexpr std::string_view kBashCompletion = R"(_kubexx_convert() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  case $previous in
    --from) mapfile -t COMPREPLY < <(compgen -W "auto json yaml protobuf" -- "$current") ;;
    --to) mapfile -t COMPREPLY < <(compgen -W "json yaml protobuf" -- "$current") ;;
    --input | -i | --output | -o) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    --completion) mapfile -t COMPREPLY < <(compgen -W "bash" -- "$current") ;;
    --type) COMPREPLY=() ;;
    *) mapfile -t COMPREPLY < <(compgen -W "--from --to --type --input --output --compact --completion --help" -- "$current") ;;
  esac
}
complete -o filenames -F _kubexx_convert kubexx-convert
)";

struct Flags {
  kubexx::codec::ConvertOptions convert{};
  std::string input{};
  std::string output{};
  std::string completion{};
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

void AddFlags(CLI::App& app, Flags& flags) {
  const std::map<std::string, FileFormat> from = {{"auto", FileFormat::kAuto},
                                                  {"json", FileFormat::kJson},
                                                  {"yaml", FileFormat::kYaml},
                                                  {"protobuf", FileFormat::kProtobuf}};
  std::map<std::string, FileFormat> to = from;
  to.erase("auto");
  app.add_option("--from", flags.convert.from,
                 "Format of the input: auto (default), json, yaml or protobuf")
      ->transform(CLI::Transformer(from).description(""))
      ->check(CLI::IsMember(
                  {FileFormat::kAuto, FileFormat::kJson, FileFormat::kYaml, FileFormat::kProtobuf})
                  .description(""))
      ->option_text("FORMAT");
  app.add_option("--to", flags.convert.to, "Format of the output: json (default), yaml or protobuf")
      ->transform(CLI::CheckedTransformer(to).description(""))
      ->option_text("FORMAT");
  app.add_option("--type", flags.convert.type,
                 "Type of objects that do not name theirs, as apps/v1/Deployment or v1/Pod")
      ->option_text("TYPE");
  app.add_option("-i,--input", flags.input, "File to read instead of standard input")
      ->option_text("FILE");
  app.add_option("-o,--output", flags.output, "File to write instead of standard output")
      ->option_text("FILE");
  app.add_flag("--compact", flags.convert.compact, "Write JSON on one line");
  app.add_option("--completion", flags.completion,
                 "Print a completion script for the shell and exit: bash")
      ->check(CLI::IsMember({"bash"}).description(""))
      ->option_text("SHELL");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{std::string(kDescription), "kubexx-convert"};
  app.footer(std::string(kFooter));
  Flags flags;
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kUsage;
  }
  if (flags.completion == "bash") {
    return WriteOutput("", kBashCompletion);
  }
  std::string input;
  if (const int failed = ReadInput(flags.input, input)) {
    return failed;
  }
  const auto converted = kubexx::codec::Convert(input, flags.convert, kubexx::api::Registry());
  if (!converted) {
    return Complain(converted.error().message);
  }
  return WriteOutput(flags.output, *converted);
}
