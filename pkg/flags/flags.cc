#include "kubexx/flags/flags.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/text/join.h"
#include "kubexx/flags/internal/completion.h"
#include "kubexx/flags/internal/values.h"

namespace kubexx::flags {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// A setter that stores what `parse` gives.
template <class T>
std::function<Result<void>(std::string_view)> Into(T* target,
                                                   Result<T> (*parse)(std::string_view)) {
  return [target, parse](std::string_view value) -> Result<void> {
    KX_ASSIGN_OR_RETURN(*target, parse(value));
    return {};
  };
}

Result<base::Duration> ParseDuration(std::string_view text) {
  auto parsed = apimachinery::Duration::Parse(text);
  if (!parsed) {
    return Fail(Reason::kInvalidConfig, parsed.error().message);
  }
  return base::Duration(parsed->nanos);
}

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// The name of the flag that `word` gives, without its value: names of one letter may be given with
/// one dash, as in Go's pflag. Empty when it is none.
std::string NameIn(std::string_view word) {
  if (word == "-h") {
    return "help";
  }
  if (word.starts_with("--")) {
    return std::string(word.substr(2));
  }
  return word.size() == 2 ? std::string(word.substr(1)) : std::string();
}

}  // namespace

FlagSet::FlagSet(std::string program, std::string description, std::string version)
    : program_(std::move(program)),
      description_(std::move(description)),
      version_(std::move(version)) {
  AddBuiltIn();
}

void FlagSet::Add(std::string name, Flag flag) {
  flags_.insert_or_assign(std::move(name), std::move(flag));
}

void FlagSet::AddBuiltIn() {
  Add("help", {.help = "Show this help.",
               .value_optional = true,
               .set = [this](std::string_view value) -> Result<void> {
                 KX_ASSIGN_OR_RETURN(const bool wanted, internal::ParseBool(value));
                 if (wanted) {
                   answer_ = Usage();
                 }
                 return {};
               }});
  if (!version_.empty()) {
    Add("version", {.help = "Show the version.",
                    .value_optional = true,
                    .set = [this](std::string_view value) -> Result<void> {
                      KX_ASSIGN_OR_RETURN(const bool wanted, internal::ParseBool(value));
                      if (wanted) {
                        answer_ = program_ + " " + version_ + "\n";
                      }
                      return {};
                    }});
  }
  Add("completion", {.help = "Write a completion script for bash, zsh or fish.",
                     .type = "shell",
                     .set = [this](std::string_view shell) -> Result<void> {
                       std::string script = Completion(shell);
                       if (script.empty()) {
                         return Fail(Reason::kInvalidConfig, "use bash, zsh or fish");
                       }
                       answer_ = std::move(script);
                       return {};
                     }});
}

void FlagSet::AddString(std::string name, std::string help, std::string* target) {
  Add(std::move(name), {.help = std::move(help),
                        .type = "string",
                        .shown_default = target->empty() ? "" : Quoted(*target),
                        .set = [target](std::string_view value) -> Result<void> {
                          *target = value;
                          return {};
                        }});
}

void FlagSet::AddNonEmptyString(std::string name, std::string help, std::string* target) {
  Add(std::move(name), {.help = std::move(help),
                        .type = "string",
                        .shown_default = target->empty() ? "" : Quoted(*target),
                        .set = [target](std::string_view value) -> Result<void> {
                          if (value.empty()) {
                            return Fail(Reason::kInvalidConfig,
                                        "must not be empty; leave the flag out instead");
                          }
                          *target = value;
                          return {};
                        }});
}

void FlagSet::AddBool(std::string name, std::string help, bool* target) {
  Add(std::move(name), {.help = std::move(help),
                        .shown_default = *target ? "true" : "",
                        .value_optional = true,
                        .set = Into(target, internal::ParseBool)});
}

void FlagSet::AddStringBool(std::string name, std::string help, bool* target) {
  Add(std::move(name), {.help = std::move(help),
                        .type = "true|false",
                        .shown_default = *target ? "true" : "false",
                        .set = Into(target, internal::ParseBool)});
}

void FlagSet::AddInt(std::string name, std::string help, std::int64_t* target) {
  Add(std::move(name), {.help = std::move(help),
                        .type = "int",
                        .shown_default = *target == 0 ? "" : std::to_string(*target),
                        .set = Into(target, internal::ParseInt)});
}

void FlagSet::AddDuration(std::string name, std::string help, base::Duration* target) {
  Add(std::move(name),
      {.help = std::move(help),
       .type = "duration",
       .shown_default =
           target->count() == 0 ? "" : apimachinery::Duration{target->count()}.ToString(),
       .set = Into(target, ParseDuration)});
}

void FlagSet::AddList(std::string name, std::string help, std::vector<std::string>* target) {
  const std::string shown = target->empty() ? "" : "[" + internal::FormatCsvRecord(*target) + "]";
  auto set = [target, replaced = false](std::string_view value) mutable -> Result<void> {
    KX_ASSIGN_OR_RETURN(std::vector<std::string> values, internal::ParseCsvRecord(value));
    if (!std::exchange(replaced, true)) {
      target->clear();
    }
    std::ranges::move(values, std::back_inserter(*target));
    return {};
  };
  Add(std::move(name),
      {.help = std::move(help), .type = "strings", .shown_default = shown, .set = std::move(set)});
}

void FlagSet::AddChoice(std::string name, std::string help, std::vector<std::string> choices,
                        std::string* target) {
  const std::string list = base::Join(choices, ", ");
  Add(std::move(name), {.help = std::move(help) + ": " + list,
                        .type = "string",
                        .shown_default = *target,
                        .choices = choices,
                        .set = [choices, list, target](std::string_view value) -> Result<void> {
                          if (std::ranges::find(choices, value) == choices.end()) {
                            return Fail(Reason::kInvalidConfig, "must be one of: " + list);
                          }
                          *target = value;
                          return {};
                        }});
}

void FlagSet::AddCustom(std::string name, std::string help, std::string type,
                        std::string shown_default,
                        std::function<Result<void>(std::string_view)> set) {
  Add(std::move(name), {.help = std::move(help),
                        .type = std::move(type),
                        .shown_default = std::move(shown_default),
                        .set = std::move(set)});
}

void FlagSet::AllowArguments(std::string usage, std::vector<std::string>* target) {
  arguments_usage_ = std::move(usage);
  arguments_ = target;
}

void FlagSet::AddCommand(std::string name, std::string help, const FlagSet& flags) {
  commands_.push_back({std::move(name), std::move(help), flags.flags_});
}

void FlagSet::AllowUnknown(std::vector<std::string>* target) { unknown_ = target; }

bool FlagSet::TakeUnknown(int argc, const char* const* argv, int& index) {
  if (unknown_ == nullptr) {
    return false;
  }
  std::string given = argv[index];
  const std::string_view next = index + 1 < argc ? argv[index + 1] : "--";
  if (given.find('=') == std::string::npos && (next == "-" || !next.starts_with('-'))) {
    given += " " + std::string(argv[++index]);
  }
  unknown_->push_back(std::move(given));
  return true;
}

Result<void> FlagSet::Set(const std::string& name, const Flag& flag, std::string_view value) {
  if (const auto set = flag.set(value); !set) {
    return Fail(Reason::kInvalidConfig, "invalid value " + Quoted(value) + " of flag --" + name +
                                            ": " + set.error().message);
  }
  given_.emplace_back(name, value);
  return {};
}

Result<ParseOutcome> FlagSet::Parse(int argc, const char* const* argv) {
  answer_.reset();
  bool flags_ended = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (flags_ended || word == "-" || !word.starts_with('-')) {
      if (arguments_ == nullptr) {
        return Fail(Reason::kInvalidConfig, "unexpected argument " + Quoted(word));
      }
      arguments_->emplace_back(word);
      continue;
    }
    if (word == "--") {
      flags_ended = true;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = NameIn(word.substr(0, equals));
    const auto found = flags_.find(name);
    if (found == flags_.end()) {
      if (TakeUnknown(argc, argv, i)) {
        continue;
      }
      return Fail(Reason::kInvalidConfig, "unknown flag: " + std::string(word.substr(0, equals)));
    }
    const Flag& flag = found->second;
    if (equals != std::string_view::npos) {
      KX_RETURN_IF_ERROR(Set(name, flag, word.substr(equals + 1)));
    } else if (flag.value_optional) {
      KX_RETURN_IF_ERROR(Set(name, flag, "true"));
    } else if (i + 1 < argc) {
      KX_RETURN_IF_ERROR(Set(name, flag, argv[++i]));
    } else {
      return Fail(Reason::kInvalidConfig, "flag needs a value: --" + name);
    }
    if (answer_) {
      return ParseOutcome{.exit = true, .text = *std::exchange(answer_, std::nullopt)};
    }
  }
  return ParseOutcome{};
}

std::vector<int> FlagSet::FindArguments(int argc, const char* const* argv) const {
  std::vector<int> indexes;
  bool flags_ended = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (flags_ended || word == "-" || !word.starts_with('-')) {
      indexes.push_back(i);
    } else if (word == "--") {
      flags_ended = true;
    } else {
      const auto found = flags_.find(NameIn(word));  // none of these with "="
      i += found != flags_.end() && !found->second.value_optional ? 1 : 0;
    }
  }
  return indexes;
}

std::pair<const FlagSet::FlagMap*, bool> FlagSet::FlagsAt(
    const std::vector<std::string>& words) const {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto command = std::ranges::find(commands_, words[i], &Command::name);
    if (command != commands_.end()) {
      return {&command->flags, true};
    }
    const auto flag = flags_.find(NameIn(words[i]));  // none of these with "="
    i += flag != flags_.end() && !flag->second.value_optional ? 1 : 0;
  }
  return {&flags_, false};
}

std::vector<FlagSet::Candidate> FlagSet::Complete(const std::vector<std::string>& words) const {
  std::vector<Candidate> candidates;
  const std::string word = words.empty() ? std::string() : words.back();
  const auto add = [&](const std::string& text, const std::string& help) {
    if (text.starts_with(word)) {
      candidates.push_back({text, help.substr(0, help.find('\n'))});
    }
  };
  const auto [flags, has_command] = FlagsAt(words);
  const std::string before = words.size() < 2 ? std::string() : words[words.size() - 2];
  if (const auto flag = flags->find(NameIn(before));
      flag != flags->end() && !flag->second.value_optional) {
    for (const std::string& choice : flag->second.choices) {
      add(choice, "");
    }
    return candidates;
  }
  if (word.starts_with('-')) {
    const auto given = flags->find(NameIn(word.substr(0, word.find('='))));
    if (word.contains('=') && given != flags->end()) {
      for (const std::string& choice : given->second.choices) {
        add("--" + given->first + "=" + choice, "");
      }
      return candidates;
    }
    for (const auto& [name, flag] : *flags) {
      add("--" + name + (flag.value_optional ? "" : "="), flag.help);
    }
    return candidates;
  }
  for (const Command& command : has_command ? std::vector<Command>() : commands_) {
    add(command.name, command.help);
  }
  return candidates;
}

std::optional<int> FlagSet::ParseOrExitCode(int argc, const char* const* argv,
                                            int error_exit_code) {
  const auto outcome = Parse(argc, argv);
  if (!outcome) {
    const std::string text = program_ + ": " + outcome.error().message + "\nSee " + program_ +
                             " --help for its usage.\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    return error_exit_code;
  }
  if (outcome->exit) {
    std::fwrite(outcome->text.data(), 1, outcome->text.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : error_exit_code;
  }
  return std::nullopt;
}

std::string FlagSet::Usage() const {
  std::size_t width = 0;
  for (const auto& [name, flag] : flags_) {
    width = std::max(width, name.size() + flag.type.size() + (flag.type.empty() ? 0 : 1));
  }
  std::string text = description_ + "\n\nUsage:\n  " + program_ + " [flags]" +
                     (arguments_usage_.empty() ? "" : " " + arguments_usage_) + "\n\n";
  if (!commands_.empty()) {
    text += "Commands (" + program_ + " COMMAND --help tells of each):\n";
    std::size_t longest = 0;
    for (const Command& command : commands_) {
      longest = std::max(longest, command.name.size());
    }
    for (const Command& command : commands_) {
      text += "  " + command.name + std::string(longest - command.name.size(), ' ') + "   " +
              command.help + "\n";
    }
    text += "\n";
  }
  text += "Flags:\n";
  for (const auto& [name, flag] : flags_) {
    std::string left = name + (flag.type.empty() ? "" : " " + flag.type);
    left.resize(width, ' ');
    text += (name == "help" ? "  -h, --" : "      --") + left + "   " + flag.help +
            (flag.shown_default.empty() ? "" : " (default " + flag.shown_default + ")") + "\n";
  }
  return text;
}

std::string FlagSet::Completion(std::string_view shell) const {
  const auto shown = [](const FlagMap& flags) {
    std::vector<internal::CompletionFlag> list;
    for (const auto& [name, flag] : flags) {
      list.push_back({name, flag.help, !flag.value_optional, flag.choices});
    }
    return list;
  };
  std::vector<internal::CompletionCommand> commands;
  for (const Command& command : commands_) {
    commands.push_back({command.name, command.help, shown(command.flags)});
  }
  return internal::CompletionScript(shell, program_, shown(flags_), commands);
}

}  // namespace kubexx::flags
