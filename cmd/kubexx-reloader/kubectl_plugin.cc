#include "kubectl_plugin.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "named_object.h"
#include "subcommand.h"

namespace kubexx {
namespace {

constexpr std::chrono::seconds kCompletionPatience{2};
/// A shell shows no more of use, and the list costs as much as it is long.
constexpr std::int64_t kMostNames = 500;
// cobra's ShellCompDirective, which kubectl passes on to the shell.
constexpr int kNoSpace = 2;
constexpr int kNoFiles = 4;

constexpr char kAbout[] =
    "Tells and steers what kubexx-reloader rolls when ConfigMaps and Secrets change.";

/// The value of a flag in a command line; empty when it is not given.
std::string ValueOf(const std::vector<std::string>& words, const std::string& flag) {
  std::string value;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == flag) {
      value = words[i + 1];
    } else if (words[i].starts_with(flag + "=")) {
      value = words[i].substr(flag.size() + 1);
    }
  }
  return value;
}

/// The names of the objects of a kind, in the namespace that the command line names.
std::vector<std::string> NamesIn(const std::vector<std::string>& words,
                                 const apimachinery::ResourceInfo& resource) {
  auto config = rest::LoadConfig(
      {.path = ValueOf(words, "--kubeconfig"), .context = ValueOf(words, "--context")});
  if (!config) {
    return {};
  }
  const std::string given = ValueOf(words, "--namespace");
  const std::string space = !resource.namespaced         ? std::string()
                            : !given.empty()             ? given
                            : config->namespace_.empty() ? "default"
                                                         : config->namespace_;
  config->user_agent = "kubexx-reloader-completion/" KUBEXX_VERSION;
  const base::StopTimer deadline(base::Clock::Real(), {}, kCompletionPatience);
  const auto client = rest::RESTClient::New(*std::move(config));
  if (!client) {
    return {};
  }
  const auto list = dynamic::DynamicClient(*client)
                        .Resource({std::string(resource.group), std::string(resource.version),
                                   std::string(resource.plural)},
                                  space)
                        .List({.limit = kMostNames}, deadline.token());
  std::vector<std::string> names;
  if (list) {
    for (const dynamic::Unstructured& each : list->items) {
      names.push_back(each.Name());
    }
  }
  return names;
}

using Candidates = std::vector<flags::FlagSet::Candidate>;

/// The objects whose names may follow the command.
Candidates Objects(const Command& command, const std::vector<std::string>& words) {
  Candidates candidates;
  const std::string& word = words.back();
  const std::size_t slash = word.find('/');
  const NamedKinds kinds = command.names == Command::Names::kWorkload ? NamedKinds::kWorkloads
                           : command.names == Command::Names::kWithHistory
                               ? NamedKinds::kWorkloadsAndSources
                               : NamedKinds::kAll;
  if (slash == std::string::npos) {
    for (const std::string& kind : KindNames(kinds)) {
      if (kind.starts_with(word)) {
        candidates.push_back({kind + "/", ""});
      }
    }
    return candidates;
  }
  const std::string kind = word.substr(0, slash);
  const apimachinery::ResourceInfo* resource = ResourceNamed(kind);
  if (resource == nullptr || !Includes(kinds, *resource)) {
    return candidates;
  }
  for (const std::string& name : NamesIn(words, *resource)) {
    if ((kind + "/" + name).starts_with(word)) {
      candidates.push_back({kind + "/" + name, ""});
    }
  }
  return candidates;
}

/// The command that the words before the last name; null when none does.
const Command* CommandIn(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (const Command* command = CommandNamed(words[i])) {
      return command;
    }
  }
  return nullptr;
}

/// Whether the last word is the value of the flag before it.
bool IsValue(const flags::FlagSet& flags, const std::vector<std::string>& words) {
  if (words.size() < 2 || !words[words.size() - 2].starts_with("--") ||
      words[words.size() - 2].contains('=')) {
    return false;
  }
  const std::vector<std::string> before(words.begin(), words.end() - 1);
  return std::ranges::any_of(flags.Complete(before),
                             [&](const auto& each) { return each.text == before.back() + "="; });
}

bool IsFile(const std::vector<std::string>& words) {
  return words.size() >= 2 &&
         (words[words.size() - 2] == "--kubeconfig" || words[words.size() - 2] == "--filename");
}

}  // namespace

bool IsCompletion(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("kubectl_complete-reloader");
}

int RunCompletion(int argc, const char* const* argv) {
  logging::Init({.level = logging::Level::kError});
  const std::vector<const char*> long_names = WithAllLongNames(argc, argv);
  std::vector<std::string> words(long_names.begin() + std::min(argc, 1), long_names.end());
  if (words.empty()) {
    words.emplace_back();
  }
  flags::FlagSet flags(std::string(ProgramName()), kAbout, KUBEXX_VERSION);
  AddCommandsTo(flags);
  Candidates candidates = flags.Complete(words);
  const Command* command = CommandIn(words);
  if (command != nullptr && command->names != Command::Names::kNothing &&
      !words.back().starts_with('-') && !IsValue(flags, words)) {
    candidates = Objects(*command, words);
  }
  int directive = IsFile(words) ? 0 : kNoFiles;
  for (const auto& [text, help] : candidates) {
    directive |= text.ends_with('=') || text.ends_with('/') ? kNoSpace : 0;
    std::cout << text << (help.empty() ? "" : "\t") << help << "\n";
  }
  std::cout << ":" << directive << "\n";
  return 0;
}

int RunPluginWithoutCommand(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  flags::FlagSet flags(std::string(ProgramName()), kAbout, KUBEXX_VERSION);
  AddCommandsTo(flags);
  flags.AllowArguments("COMMAND", &arguments);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv, kBadUsage)) {
    return *exit_code;
  }
  if (arguments.empty()) {
    std::cout << flags.Usage();
    return 0;
  }
  std::cerr << ProgramName() << ": there is no command \"" << arguments.front() << "\"\nSee "
            << ProgramName() << " --help for its usage.\n";
  return kBadUsage;
}

}  // namespace kubexx
