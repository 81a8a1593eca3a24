#include "kubexx/reloader/in_place/reload_action.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "kubexx/apimachinery/names.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;

/// With the number that it has on all architectures of Kubernetes.
struct ReloadSignal {
  std::string_view name{};
  int number = 0;
};
constexpr std::array<ReloadSignal, 4> kReloadSignals{
    {{"HUP", 1}, {"USR1", 10}, {"USR2", 12}, {"WINCH", 28}}};
constexpr std::array<std::string_view, 3> kReloadMethods{"GET", "POST", "PUT"};
/// A command is part of the URL of its request.
constexpr std::size_t kMaxActionBytes = 2048;

apimachinery::Error BadAction(const std::string& what) {
  return apimachinery::Fail(apimachinery::Reason::kInvalidConfig, what);
}

/// The words of a command.
Result<std::vector<std::string>> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (c == ' ') {
      if (has_word) {
        words.push_back(std::exchange(word, {}));
      }
      has_word = false;
    } else {
      word += c;
      has_word = true;
    }
  }
  if (quote != 0) {
    return BadAction("the command has a quotation mark that is not closed");
  }
  if (has_word) {
    words.push_back(std::move(word));
  }
  return words;
}

/// A script for the shell that ends with kSignalIsLost when process 1 neither handles the signal
/// nor has it blocked, as a program has that waits for signals: the kernel drops such a signal to
/// the first process of a container. Where /proc does not tell, it goes on. The last 8 digits of
/// the masks are those of the signals up to 32; some shells cannot count with all 16.
std::string UnlessLost(int number) {
  return "h=; while read -r k v; do case $k in SigBlk:|SigCgt:) h=${h:-n}; "
         "[ $((0x${v#????????} >> " +
         std::to_string(number - 1) +
         " & 1)) = 0 ] || h=y;; esac; done </proc/1/status; [ \"$h\" != n ] || exit " +
         std::to_string(kSignalIsLost) + "; ";
}

Result<ReloadAction> SignalAction(std::string_view name) {
  const auto* const found = std::ranges::find(kReloadSignals, name, &ReloadSignal::name);
  if (found == kReloadSignals.end()) {
    return BadAction("the signal must be one of HUP, USR1, USR2 and WINCH");
  }
  // A shell has `kill` of its own; few images have a program of that name.
  return ReloadAction{
      .kind = ReloadAction::Kind::kSignal,
      .command = {"sh", "-c", UnlessLost(found->number) + "kill -s " + std::string(name) + " 1"}};
}

Result<ReloadAction> ExecCommandAction(std::string_view text) {
  KX_ASSIGN_OR_RETURN(std::vector<std::string> command, WordsOf(text));
  if (command.empty() || command.front().empty()) {
    return BadAction("the command is empty");
  }
  return ReloadAction{.kind = ReloadAction::Kind::kExec, .command = std::move(command)};
}

Result<ReloadAction> HttpAction(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::string_view method = text.substr(0, space);
  if (space == std::string_view::npos ||
      std::ranges::find(kReloadMethods, method) == kReloadMethods.end()) {
    return BadAction("the method must be one of GET, POST and PUT, followed by a space");
  }
  std::string_view where = text.substr(space + 1);
  if (!where.starts_with(':')) {
    return BadAction("after the method there must be a port and a path, such as :9090/-/reload");
  }
  where.remove_prefix(1);
  const std::size_t slash = where.find('/');
  const std::string_view digits = where.substr(0, slash);
  ReloadAction action{.kind = ReloadAction::Kind::kHttp, .method = std::string(method)};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), action.port);
  if (slash == std::string_view::npos || error != std::errc() ||
      end != digits.data() + digits.size() || action.port == 0) {
    return BadAction("the port must be a number between 1 and 65535, followed by a path");
  }
  action.path = where.substr(slash);
  if (std::ranges::any_of(action.path,
                          [](char c) { return c <= ' ' || c > '~' || c == '#' || c == '%'; }) ||
      action.path.contains("..")) {
    return BadAction("the path must be printable ASCII without spaces, \"#\", \"%\" and \"..\"");
  }
  return action;
}

Result<ReloadAction> ActionOf(std::string_view text) {
  if (text.size() > kMaxActionBytes) {
    return BadAction("the action is longer than " + std::to_string(kMaxActionBytes) + " bytes");
  }
  if (std::ranges::any_of(text, [](char c) { return c >= 0 && c < ' '; })) {
    return BadAction("the action has a control character");
  }
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (kind == "signal") {
    return SignalAction(rest);
  }
  if (kind == "exec") {
    return ExecCommandAction(rest);
  }
  if (kind == "http") {
    return HttpAction(rest);
  }
  return BadAction("the action must begin with signal:, exec: or http:");
}

}  // namespace

Result<ReloadAction> ParseReloadAction(std::string_view text) {
  const std::string_view trimmed = TrimSpace(text);
  KX_ASSIGN_OR_RETURN(ReloadAction action, ActionOf(trimmed));
  action.text = trimmed;
  return action;
}

Result<std::optional<ReloadAction>> ReloadActionOf(const Annotations& annotations) {
  const std::string* text = Find(annotations, kReloadInPlace);
  if (text == nullptr) {
    return std::nullopt;
  }
  KX_ASSIGN_OR_RETURN(ReloadAction action, ParseReloadAction(*text));
  if (const std::string* container = Find(annotations, kReloadContainer)) {
    if (!apimachinery::IsDnsLabel(*container)) {
      return BadAction(std::string(kReloadContainer) + " is not the name of a container");
    }
    action.container = *container;
  }
  if (const std::string* on_refusal = Find(annotations, kReloadOnRefusal)) {
    if (*on_refusal != "roll" && *on_refusal != "keep") {
      return BadAction(std::string(kReloadOnRefusal) + " must be roll or keep");
    }
    action.keeps_refused = *on_refusal == "keep";
  }
  return std::optional(std::move(action));
}

std::string ShownAction(const ReloadAction& action) {
  return action.text +
         (action.container.empty() ? std::string() : " in container " + action.container);
}

}  // namespace kubexx::reloader
