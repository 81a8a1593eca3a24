#include "subcommand.h"

#include <algorithm>
#include <iostream>

namespace kubexx {

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
  std::cerr << "kubexx-reloader " << command << ": " << what << "\n";
}

}  // namespace kubexx
