#include "subcommand.h"

#include <algorithm>
#include <iostream>

namespace kubexx {
namespace {

constexpr std::string_view kPluginFile = "kubectl-reloader";

/// Whether it is a plugin, as SetProgramPath has found.
bool& PluginFlag() {
  static bool is_plugin = false;
  return is_plugin;
}

}  // namespace

void SetProgramPath(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  PluginFlag() = file.starts_with(kPluginFile);
}

std::string_view ProgramName() { return IsPlugin() ? "kubectl reloader" : "kubexx-reloader"; }

bool IsPlugin() { return PluginFlag(); }

std::vector<const char*> WithLongNames(int argc, const char* const* argv,
                                       std::span<const ShortFlag> names) {
  std::vector<const char*> arguments;
  for (int i = 0; i < argc; ++i) {
    const auto found = std::ranges::find(names, argv[i], &ShortFlag::name);
    arguments.push_back(found == names.end() ? argv[i] : found->flag);
  }
  return arguments;
}

std::optional<int> ParseCommandLine(flags::FlagSet& flags, int argc, const char* const* argv,
                                    std::span<const ShortFlag> names) {
  const std::vector<const char*> arguments = WithLongNames(argc, argv, names);
  return flags.ParseOrExitCode(static_cast<int>(arguments.size()), arguments.data(), kBadUsage);
}

void Complain(std::string_view command, std::string_view what) {
  std::cerr << ProgramName() << " " << command << ": " << what << "\n";
}

}  // namespace kubexx
