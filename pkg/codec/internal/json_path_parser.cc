#include "kubexx/codec/internal/json_path_parser.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <system_error>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/codec/internal/json_path_quotes.h"

namespace kubexx::codec::internal {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using Path = std::vector<PathStep>;

constexpr std::size_t kMaxTemplate = std::size_t{64} << 10;
// Filters and unions in filters and unions, and ranges in ranges.
constexpr int kMaxPathDepth = 16;

bool IsPathEnd(char c) {
  return std::string_view(" \t\r\n.,[]$@{}").find(c) != std::string_view::npos;
}
bool IsWordStart(char c) { return base::IsAlphanumeric(c) || c == '_' || (c & 0x80) != 0; }

/// What stands between two braces.
struct Action {
  Path steps{};
  bool begins_range = false;
  bool ends_range = false;
};

std::optional<std::int64_t> IntegerIn(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<PathOperator> OperatorIn(std::string_view text) {
  constexpr std::pair<std::string_view, PathOperator> kOperators[] = {
      {"==", PathOperator::kEqual},  {"!=", PathOperator::kNotEqual},
      {"<", PathOperator::kLess},    {"<=", PathOperator::kLessOrEqual},
      {">", PathOperator::kGreater}, {">=", PathOperator::kGreaterOrEqual}};
  const auto* const found =
      std::ranges::find(kOperators, text, [](const auto& each) { return each.first; });
  return found == std::end(kOperators) ? std::nullopt : std::optional(found->second);
}

Error Bad(std::string_view what, std::string_view where) {
  return Fail(Reason::kBadRequest, "JSONPath: " + std::string(what) + " at \"" +
                                       std::string(where.substr(0, 40)) + "\"");
}

PathStep FieldStep(std::string_view name) {
  PathStep step{.kind = PathStep::Kind::kField, .name = std::string(name)};
  std::erase(step.name, '\\');
  return step;
}

Result<PathStep> SliceStep(std::string_view text) {
  PathStep step{.kind = PathStep::Kind::kSlice};
  const std::string_view whole = text;
  for (std::size_t part = 0; part < step.slice.size(); ++part) {
    const std::string_view number = text.substr(0, text.find(':'));
    if (!number.empty()) {
      step.slice[part] = IntegerIn(number);
      if (!step.slice[part] || number.starts_with('+')) {
        return Bad("invalid array index", whole);
      }
    }
    text.remove_prefix(number.size());
    if (text.empty()) {
      break;
    }
    if (part + 1 == step.slice.size()) {
      return Bad("invalid array index", whole);
    }
    text.remove_prefix(1);
  }
  step.single_index = whole.find(':') == std::string_view::npos;
  return step;
}

/// Reads the inside of one pair of braces.
class ActionParser {
 public:
  ActionParser(std::string_view text, int depth) : rest_(text), depth_(depth) {}

  Result<Action> Parse() {
    if (depth_ > kMaxPathDepth) {
      return Bad("it nests too deep", rest_);
    }
    while (!rest_.empty()) {
      KX_RETURN_IF_ERROR(Next());
    }
    return std::move(action_);
  }

 private:
  Result<void> Next() {
    const char c = rest_.front();
    if (rest_.starts_with("[?(")) {
      return Filter();
    }
    if (rest_.starts_with("..")) {
      return Recursive();
    }
    if (c == ' ' || c == '@' || c == '$') {
      rest_.remove_prefix(1);
      return {};
    }
    if (c == '[') {
      return Brackets();
    }
    if (c == '"' || c == '\'') {
      return Text();
    }
    if (c == '.') {
      rest_.remove_prefix(1);
      return Field();
    }
    if (c == '+' || c == '-' || base::IsDigit(c)) {
      return Number();
    }
    return IsWordStart(c) ? Word() : Bad("unrecognized character in action", rest_);
  }

  Result<void> Recursive() {
    if (!action_.steps.empty() && action_.steps.back().kind == PathStep::Kind::kRecursive) {
      return Bad("invalid multiple recursive descent", rest_);
    }
    rest_.remove_prefix(2);
    Add({.kind = PathStep::Kind::kRecursive});
    return !rest_.empty() && IsWordStart(rest_.front()) ? Field() : Result<void>();
  }

  Result<void> Field() {
    std::size_t end = 0;
    while (end < rest_.size() && !IsPathEnd(rest_[end])) {
      end += rest_[end] == '\\' && end + 1 < rest_.size() ? 2 : 1;
    }
    const std::string_view name = Take(end);
    if (name == "*") {
      Add({.kind = PathStep::Kind::kWildcard});
    } else {
      Add(FieldStep(name));
    }
    return {};
  }

  Result<void> Word() {
    std::size_t end = 0;
    while (end < rest_.size() && !IsPathEnd(rest_[end])) {
      ++end;
    }
    const std::string_view word = rest_.substr(0, end);
    if (word == "true" || word == "false") {
      Add({.kind = PathStep::Kind::kLiteral, .literal = JsonTree(word == "true")});
    } else if (word == "range") {
      action_.begins_range = true;
    } else if (word == "end") {
      action_.ends_range = true;
    } else {
      return Bad("unrecognized identifier", rest_);
    }
    rest_.remove_prefix(end);
    return {};
  }

  Result<void> Number() {
    std::size_t end = 1;
    while (end < rest_.size() && (rest_[end] == '.' || base::IsDigit(rest_[end]))) {
      ++end;
    }
    std::string_view text = rest_.substr(0, end);
    if (text.starts_with('+')) {
      text.remove_prefix(1);
    }
    double real = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (error != std::errc() || last != text.data() + text.size()) {
      return Bad("cannot parse number", rest_);
    }
    const auto integer = IntegerIn(text);
    Add({.kind = PathStep::Kind::kLiteral,
         .literal = integer ? JsonTree(*integer) : JsonTree(real)});
    rest_.remove_prefix(end);
    return {};
  }

  Result<void> Text() {
    const char quote = rest_.front();
    std::size_t end = 1;
    while (end < rest_.size() && !(rest_[end] == quote && rest_[end - 1] != '\\')) {
      ++end;
    }
    if (end >= rest_.size()) {
      return Bad("unterminated quoted string", rest_);
    }
    auto text = UnquotePathText(rest_.substr(0, end + 1));
    if (!text) {
      return Bad("a quoted string with an invalid escape", rest_);
    }
    Add({.kind = PathStep::Kind::kText, .literal = JsonTree(std::move(*text))});
    rest_.remove_prefix(end + 1);
    return {};
  }

  Result<void> Brackets() {
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos) {
      return Bad("unterminated array", rest_);
    }
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (inside.find(',') == std::string_view::npos) {
      return Element(inside);
    }
    PathStep step{.kind = PathStep::Kind::kUnion};
    for (std::string_view left = inside;;) {
      std::string_view part = left.substr(0, left.find(','));
      left.remove_prefix(part.size());
      while (part.starts_with(' ')) {
        part.remove_prefix(1);
      }
      while (part.ends_with(' ')) {
        part.remove_suffix(1);
      }
      ActionParser parser({}, depth_ + 1);
      KX_RETURN_IF_ERROR(parser.Element(part));
      step.paths.push_back(std::move(parser.action_.steps));
      if (left.empty()) {
        break;
      }
      left.remove_prefix(1);
    }
    Add(std::move(step));
    return {};
  }

  // The inside of brackets without a comma.
  Result<void> Element(std::string_view text) {
    if (text == "*") {
      Add({.kind = PathStep::Kind::kSlice});
      return {};
    }
    if (text.size() >= 2 && text.starts_with('\'') && text.ends_with('\'') &&
        text.substr(1, text.size() - 2).find('\'') == std::string_view::npos) {
      // As client-go: what is between the quotes is read as what follows a dot.
      KX_ASSIGN_OR_RETURN(Path steps, Nested("." + std::string(text.substr(1, text.size() - 2))));
      std::ranges::move(steps, std::back_inserter(action_.steps));
      return {};
    }
    KX_ASSIGN_OR_RETURN(PathStep step, SliceStep(text));
    Add(std::move(step));
    return {};
  }

  Result<void> Filter() {
    const std::string_view where = rest_;
    rest_.remove_prefix(3);
    KX_ASSIGN_OR_RETURN(const std::size_t end, EndOfFilter(where));
    const std::string_view inside = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    PathStep step{.kind = PathStep::Kind::kFilter};
    constexpr std::string_view kOperatorCharacters = "!<>=";
    const std::size_t begin = inside.find_first_of(kOperatorCharacters);
    const std::size_t after = begin == std::string_view::npos
                                  ? begin
                                  : inside.find_first_not_of(kOperatorCharacters, begin);
    if (begin == 0 || after == std::string_view::npos) {
      KX_ASSIGN_OR_RETURN(Path path, Nested(inside));
      step.paths.push_back(std::move(path));
      Add(std::move(step));
      return {};
    }
    const auto op = OperatorIn(inside.substr(begin, after - begin));
    if (!op) {
      return Bad("unrecognized filter operator", inside.substr(begin));
    }
    step.op = *op;
    for (const std::string_view side : {inside.substr(0, begin), inside.substr(after)}) {
      KX_ASSIGN_OR_RETURN(Path path, Nested(side));
      step.paths.push_back(std::move(path));
    }
    Add(std::move(step));
    return {};
  }

  // Where the ")" of a filter is; a pair of quotes may hold others.
  Result<std::size_t> EndOfFilter(std::string_view where) const {
    char quote = '\0';
    bool closed = false;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if ((c == '"' || c == '\'') && quote == '\0') {
        quote = c;
      } else if (c == quote && rest_[i - 1] != '\\') {
        closed = true;
      } else if (c == ')' && (quote == '\0' || closed)) {
        return i + 1 < rest_.size() && rest_[i + 1] == ']'
                   ? Result<std::size_t>(i)
                   : Bad("a filter that does not end with \")]\"", where);
      }
    }
    return Bad("unterminated filter", where);
  }

  Result<Path> Nested(std::string_view text) const {
    KX_ASSIGN_OR_RETURN(Action action, ActionParser(text, depth_ + 1).Parse());
    if (action.begins_range || action.ends_range) {
      return Bad("range or end inside of a path", text);
    }
    return std::move(action.steps);
  }

  std::string_view Take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  void Add(PathStep step) { action_.steps.push_back(std::move(step)); }

  std::string_view rest_;
  const int depth_;
  Action action_{};
};

// Where the "}" of an action is, `text` being what follows its "{". Quotes, and the escapes of
// names, may hold others.
std::size_t EndOfAction(std::string_view text) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '}') {
      return i;
    } else if (c == '\n' || c == '\r') {
      break;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::vector<PathPiece>> ParsePathTemplate(std::string_view text) {
  if (text.size() > kMaxTemplate) {
    return Bad("the template is too long", text);
  }
  // The pieces on each level of ranges; the last of a level is the range that the next is in.
  std::vector<std::vector<PathPiece>> levels(1);
  while (!text.empty()) {
    const std::size_t begin = text.find('{');
    if (begin != 0) {
      PathPiece plain;
      plain.steps.push_back(
          {.kind = PathStep::Kind::kText, .literal = JsonTree(std::string(text.substr(0, begin)))});
      levels.back().push_back(std::move(plain));
      text.remove_prefix(std::min(begin, text.size()));
      continue;
    }
    const std::size_t end = EndOfAction(text.substr(1));
    if (end == std::string_view::npos) {
      return Bad("unclosed action", text);
    }
    KX_ASSIGN_OR_RETURN(Action action, ActionParser(text.substr(1, end), 0).Parse());
    if (action.ends_range) {
      if (levels.size() == 1) {
        return Bad("not in range, nothing to end", text);
      }
      levels[levels.size() - 2].back().body = std::move(levels.back());
      levels.pop_back();
    } else {
      levels.back().push_back({.steps = std::move(action.steps), .is_range = action.begins_range});
      if (action.begins_range) {
        if (levels.size() > kMaxPathDepth) {
          return Bad("ranges nest too deep", text);
        }
        levels.emplace_back();
      }
    }
    text.remove_prefix(end + 2);
  }
  if (levels.size() != 1) {
    return Bad("a range without an end", "{range}");
  }
  return std::move(levels.front());
}

}  // namespace kubexx::codec::internal
