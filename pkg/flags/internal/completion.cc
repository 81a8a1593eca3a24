#include "kubexx/flags/internal/completion.h"

#include <algorithm>
#include <map>

#include "kubexx/base/text/join.h"

namespace kubexx::flags::internal {
namespace {

/// The name of a shell function.
std::string FunctionName(const std::string& program) {
  std::string name = "_" + program + "_complete";
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

/// `text` on one line, with `special` characters behind `escape`.
std::string Escaped(std::string_view text, std::string_view special, std::string_view escape) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
      continue;
    }
    if (special.find(c) != std::string_view::npos) {
      out += escape;
    }
    out += c;
  }
  return out;
}

/// The branches that complete a value after its flag. Bash makes "=" a word of its own.
std::string BashChoices(const std::vector<CompletionFlag>& flags,
                        const std::vector<CompletionCommand>& commands) {
  std::map<std::string, std::string> choices;
  const auto add = [&choices](const std::vector<CompletionFlag>& some) {
    for (const CompletionFlag& flag : some) {
      if (!flag.choices.empty()) {
        choices[flag.name] = base::Join(flag.choices, " ");
      }
    }
  };
  for (const CompletionCommand& command : commands) {
    add(command.flags);
  }
  add(flags);
  if (choices.empty()) {
    return {};
  }
  std::string branches;
  for (const auto& [name, values] : choices) {
    branches += "    --" + name + ") COMPREPLY=($(compgen -W '" + values +
                "' -- \"$word\")); return 0 ;;\n";
  }
  return "  local flag=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
         "  [[ \"$word\" == '=' ]] && word=''\n"
         "  [[ \"$flag\" == '=' ]] && flag=\"${COMP_WORDS[COMP_CWORD - 2]}\"\n"
         "  case \"$flag\" in\n" +
         branches + "  esac\n";
}

std::string BashWords(const std::vector<CompletionFlag>& flags) {
  std::string words;
  for (const CompletionFlag& flag : flags) {
    words += (words.empty() ? "--" : " --") + flag.name + (flag.takes_value ? "=" : "");
  }
  return words;
}

std::string NamesOf(const std::vector<CompletionCommand>& commands, std::string_view between) {
  std::string names;
  for (const CompletionCommand& command : commands) {
    names += (names.empty() ? std::string() : std::string(between)) + command.name;
  }
  return names;
}

/// Sets `flags` and `commands`, by the command that the line has already.
std::string BashCommands(const std::vector<CompletionCommand>& commands) {
  std::string text = "  local i commands='" + NamesOf(commands, " ") +
                     "'\n"
                     "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                     "    case \"${COMP_WORDS[i]}\" in\n";
  for (const CompletionCommand& command : commands) {
    text += "      " + command.name + ") flags='" + BashWords(command.flags) +
            "' commands=''; break ;;\n";
  }
  return text + "    esac\n  done\n";
}

std::string Bash(const std::string& program, const std::vector<CompletionFlag>& flags,
                 const std::vector<CompletionCommand>& commands) {
  const std::string function = FunctionName(program);
  return "# bash completion of " + program + "\n" + function +
         "() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\"\n" +
         BashChoices(flags, commands) + "  local flags='" + BashWords(flags) + "'\n" +
         (commands.empty() ? std::string() : BashCommands(commands)) +
         "  if [[ \"$word\" == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
         "    [[ \"${COMPREPLY[0]-}\" == *= ]] && compopt -o nospace 2>/dev/null\n"
         "  else\n"
         "    COMPREPLY=(" +
         (commands.empty() ? "" : "$(compgen -W \"$commands\" -- \"$word\") ") +
         "$(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "  return 0\n"
         "}\n"
         "complete -F " +
         function + " " + program + "\n";
}

/// Text inside a single-quoted word, where only the quote itself needs care.
std::string InSingleQuotes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out;
}

/// A call of _arguments, each line but the first behind `indent`.
std::string ZshArguments(const std::vector<CompletionFlag>& flags, const std::string& indent,
                         const std::string& first) {
  std::string text = "_arguments";
  for (const CompletionFlag& flag : flags) {
    const std::string spec =
        "*--" + flag.name + (flag.takes_value ? "=" : "") + "[" +
        Escaped(flag.help, "[]:\\", "\\") + "]" +
        (!flag.choices.empty() ? ":value:(" + base::Join(flag.choices, " ") + ")"
         : flag.takes_value    ? ":value:_files"
                               : "");
    text += " \\\n" + indent + "'" + InSingleQuotes(spec) + "'";
  }
  return text + first + " \\\n" + indent + "'*:file:_files'";
}

std::string Zsh(const std::string& program, const std::vector<CompletionFlag>& flags,
                const std::vector<CompletionCommand>& commands) {
  std::string text = "#compdef " + program + "\n# zsh completion of " + program + "\n";
  if (commands.empty()) {
    return text + ZshArguments(flags, "  ", "") + "\n";
  }
  text += "case \"${words[(r)(" + NamesOf(commands, "|") + ")]}\" in\n";
  for (const CompletionCommand& command : commands) {
    text += "  " + command.name + ") " + ZshArguments(command.flags, "    ", "") + " ;;\n";
  }
  const std::string first = " \\\n    '1:command:(" + NamesOf(commands, " ") + ")'";
  return text + "  *) " + ZshArguments(flags, "    ", first) + " ;;\nesac\n";
}

/// `condition` is when the flags are offered; empty: always.
std::string FishFlags(const std::string& program, const std::vector<CompletionFlag>& flags,
                      const std::string& condition) {
  std::string text;
  for (const CompletionFlag& flag : flags) {
    text += "complete -c " + program + (condition.empty() ? "" : " -n '" + condition + "'") +
            " -l " + flag.name +
            (!flag.choices.empty() ? " -x -a '" + base::Join(flag.choices, " ") + "'"
             : flag.takes_value    ? " -r"
                                   : "") +
            " -d '" + Escaped(flag.help, "'\\", "\\") + "'\n";
  }
  return text;
}

std::string Fish(const std::string& program, const std::vector<CompletionFlag>& flags,
                 const std::vector<CompletionCommand>& commands) {
  std::string text = "# fish completion of " + program + "\n";
  const std::string seen = "__fish_seen_subcommand_from ";
  for (const CompletionCommand& command : commands) {
    text += "complete -c " + program + " -n '__fish_use_subcommand' -a " + command.name + " -d '" +
            Escaped(command.help, "'\\", "\\") + "'\n" +
            FishFlags(program, command.flags, seen + command.name);
  }
  return text +
         FishFlags(program, flags, commands.empty() ? "" : "not " + seen + NamesOf(commands, " "));
}

}  // namespace

std::string CompletionScript(std::string_view shell, const std::string& program,
                             const std::vector<CompletionFlag>& flags,
                             const std::vector<CompletionCommand>& commands) {
  if (shell == "bash") {
    return Bash(program, flags, commands);
  }
  if (shell == "zsh") {
    return Zsh(program, flags, commands);
  }
  return shell == "fish" ? Fish(program, flags, commands) : std::string();
}

}  // namespace kubexx::flags::internal
