#include "kubexx/flags/internal/completion.h"

#include <algorithm>

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

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

/// The branches that complete a value after its flag. Bash makes "=" a word of its own.
std::string BashChoices(const std::vector<CompletionFlag>& flags) {
  std::string branches;
  for (const CompletionFlag& flag : flags) {
    if (!flag.choices.empty()) {
      branches += "    --" + flag.name + ") COMPREPLY=($(compgen -W '" + Joined(flag.choices) +
                  "' -- \"$word\")); return 0 ;;\n";
    }
  }
  if (branches.empty()) {
    return {};
  }
  return "  local flag=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
         "  [[ \"$word\" == '=' ]] && word=''\n"
         "  [[ \"$flag\" == '=' ]] && flag=\"${COMP_WORDS[COMP_CWORD - 2]}\"\n"
         "  case \"$flag\" in\n" +
         branches + "  esac\n";
}

std::string Bash(const std::string& program, const std::vector<CompletionFlag>& flags) {
  std::string words;
  for (const CompletionFlag& flag : flags) {
    words += (words.empty() ? "--" : " --") + flag.name + (flag.takes_value ? "=" : "");
  }
  const std::string function = FunctionName(program);
  return "# bash completion of " + program + "\n" + function +
         "() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\"\n" +
         BashChoices(flags) +
         "  if [[ \"$word\" == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         words +
         "' -- \"$word\"))\n"
         "    [[ \"${COMPREPLY[0]-}\" == *= ]] && compopt -o nospace 2>/dev/null\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
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

std::string Zsh(const std::string& program, const std::vector<CompletionFlag>& flags) {
  std::string text = "#compdef " + program + "\n# zsh completion of " + program + "\n_arguments";
  for (const CompletionFlag& flag : flags) {
    const std::string spec = "*--" + flag.name + (flag.takes_value ? "=" : "") + "[" +
                             Escaped(flag.help, "[]:\\", "\\") + "]" +
                             (!flag.choices.empty() ? ":value:(" + Joined(flag.choices) + ")"
                              : flag.takes_value    ? ":value:_files"
                                                    : "");
    text += " \\\n  '" + InSingleQuotes(spec) + "'";
  }
  return text + " \\\n  '*:file:_files'\n";
}

std::string Fish(const std::string& program, const std::vector<CompletionFlag>& flags) {
  std::string text = "# fish completion of " + program + "\n";
  for (const CompletionFlag& flag : flags) {
    text += "complete -c " + program + " -l " + flag.name +
            (!flag.choices.empty() ? " -x -a '" + Joined(flag.choices) + "'"
             : flag.takes_value    ? " -r"
                                   : "") +
            " -d '" + Escaped(flag.help, "'\\", "\\") + "'\n";
  }
  return text;
}

}  // namespace

std::string CompletionScript(std::string_view shell, const std::string& program,
                             const std::vector<CompletionFlag>& flags) {
  if (shell == "bash") {
    return Bash(program, flags);
  }
  if (shell == "zsh") {
    return Zsh(program, flags);
  }
  return shell == "fish" ? Fish(program, flags) : std::string();
}

}  // namespace kubexx::flags::internal
