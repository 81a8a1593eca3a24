#include "kubexx/rest/internal/message/warning.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::rest::internal {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool Take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  bool NextIs(char c) const { return rest_.starts_with(c); }

  // Reads up to the next space.
  std::string_view Word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

  // Reads a text in quotes, in which a backslash makes the next character an ordinary one.
  std::optional<std::string> Quoted() {
    if (!Take('"')) {
      return std::nullopt;
    }
    std::string text;
    while (!rest_.empty() && !Take('"')) {
      Take('\\');
      if (rest_.empty() || IsControl(rest_.front())) {
        return std::nullopt;
      }
      text += rest_.front();
      rest_.remove_prefix(1);
      if (rest_.empty()) {
        return std::nullopt;  // no closing quote
      }
    }
    return text;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::vector<Warning> ParseWarnings(std::string_view header) {
  std::vector<Warning> warnings;
  Scanner scanner(header);
  for (scanner.SkipSpace(); !scanner.AtEnd(); scanner.SkipSpace()) {
    const std::string_view code = scanner.Word();
    const bool is_code = code.size() == 3 && std::ranges::all_of(code, base::IsDigit);
    scanner.SkipSpace();
    const std::string_view agent = scanner.Word();
    scanner.SkipSpace();
    std::optional<std::string> text = scanner.Quoted();
    if (!is_code || agent.empty() || !text) {
      return warnings;
    }
    scanner.SkipSpace();
    if (scanner.NextIs('"') && !scanner.Quoted()) {
      return warnings;
    }
    scanner.SkipSpace();
    if (!scanner.AtEnd() && !scanner.Take(',')) {
      return warnings;
    }
    const int number = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
    warnings.push_back({.code = number, .agent = std::string(agent), .text = std::move(*text)});
  }
  return warnings;
}

}  // namespace kubexx::rest::internal
