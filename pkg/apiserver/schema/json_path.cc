#include "kubexx/apiserver/schema/json_path.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "kubexx/base/text/trim.h"

namespace kubexx::apiserver::schema {
namespace {

using codec::JsonTree;

const JsonTree* Descend(const JsonTree* from, std::string_view dotted) {
  while (from != nullptr && !dotted.empty()) {
    const std::string_view name = dotted.substr(0, dotted.find('.'));
    from = from->Find(name);
    dotted.remove_prefix(std::min(dotted.size(), name.size() + 1));
  }
  return from;
}

/// Returns the text between quotes of either kind.
std::optional<std::string> Unquoted(std::string_view text) {
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') ||
      text.back() != text.front()) {
    return std::nullopt;
  }
  return std::string(text.substr(1, text.size() - 2));
}

}  // namespace

/// Parses one path from left to right.
class JsonPath::Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<JsonPath> Parse() {
    JsonPath path;
    while (!rest_.empty()) {
      Step step;
      const bool good = rest_.front() == '.'   ? ReadMember(step)
                        : rest_.front() == '[' ? ReadBrackets(step)
                                               : false;
      if (!good) {
        return std::nullopt;
      }
      path.steps_.push_back(std::move(step));
    }
    return path.steps_.empty() ? std::nullopt : std::optional(std::move(path));
  }

 private:
  bool ReadMember(Step& step) {
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '.' && rest_.front() != '[') {
      if (rest_.front() == '\\' && rest_.size() > 1) {  // a dot within a name
        rest_.remove_prefix(1);
      }
      step.name.push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    if (step.name == "*") {
      step.kind = Kind::kAll;
    }
    return !step.name.empty();
  }

  bool ReadBrackets(Step& step) {
    const std::optional<std::size_t> end = EndOfBrackets();
    if (!end) {
      return false;
    }
    const std::string_view inside = base::Trim(rest_.substr(1, *end - 1), " ");
    rest_.remove_prefix(*end + 1);
    if (inside == "*") {
      step.kind = Kind::kAll;
      return true;
    }
    if (auto name = Unquoted(inside)) {
      std::erase(*name, '\\');
      step.name = std::move(*name);
      return true;
    }
    if (inside.starts_with("?(") && inside.ends_with(')')) {
      return ReadFilter(base::Trim(inside.substr(2, inside.size() - 3), " "), step);
    }
    step.kind = Kind::kIndex;
    const auto [last, error] =
        std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
    return error == std::errc() && last == inside.data() + inside.size();
  }

  /// Returns where the brackets end at which it stands. Quotes may contain brackets.
  std::optional<std::size_t> EndOfBrackets() const {
    char quote = '\0';
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote != '\0') {
        quote = c == quote ? '\0' : quote;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == ']') {
        return i;
      }
    }
    return std::nullopt;
  }

  static bool ReadFilter(std::string_view text, Step& step) {
    step.kind = Kind::kFilter;
    const std::size_t equals = text.find("==");
    const std::size_t differs = text.find("!=");
    const std::size_t at = std::min(equals, differs);
    if (at == std::string_view::npos || !text.starts_with("@.")) {
      return false;
    }
    step.equal = at == equals;
    step.name = base::Trim(text.substr(2, at - 2), " ");
    const std::string_view value = base::Trim(text.substr(at + 2), " ");
    if (auto string = Unquoted(value)) {
      step.value = JsonTree(std::move(*string));
      return !step.name.empty();
    }
    auto number = JsonTree::Parse(value);
    if (number) {
      step.value = std::move(*number);
    }
    return number && !step.name.empty();
  }

  std::string_view rest_;
};

std::optional<JsonPath> JsonPath::Parse(std::string_view text) { return Parser(text).Parse(); }

void JsonPath::Take(const Step& step, const JsonTree& from, std::vector<const JsonTree*>& found) {
  const auto matches = [&step](const JsonTree& element) {
    const JsonTree* const value = Descend(&element, step.name);
    return value != nullptr && (*value == step.value) == step.equal;
  };
  switch (step.kind) {
    case Kind::kMember:
      if (const JsonTree* const member = from.Find(step.name)) {
        found.push_back(member);
      }
      return;
    case Kind::kIndex:
      if (step.index < from.elements().size()) {
        found.push_back(&from.elements()[step.index]);
      }
      return;
    case Kind::kAll:
      for (const JsonTree::Member& member : from.members()) {
        found.push_back(&member.value);
      }
      for (const JsonTree& element : from.elements()) {
        found.push_back(&element);
      }
      return;
    case Kind::kFilter:
      for (const JsonTree& element : from.elements()) {
        if (matches(element)) {
          found.push_back(&element);
        }
      }
      return;
  }
}

std::vector<const JsonTree*> JsonPath::Find(const JsonTree& root) const {
  std::size_t budget = std::numeric_limits<std::size_t>::max();
  return FindWithin(root, budget);
}

std::vector<const JsonTree*> JsonPath::FindWithin(const JsonTree& root, std::size_t& budget) const {
  std::vector<const JsonTree*> found = {&root};
  for (const Step& step : steps_) {
    std::vector<const JsonTree*> next;
    for (const JsonTree* const from : found) {
      const std::size_t cost = 1 + from->members().size() + from->elements().size();
      if (budget < cost) {
        budget = 0;
        return {};
      }
      budget -= cost;
      Take(step, *from, next);
    }
    found = std::move(next);
  }
  return found;
}

const JsonTree* JsonPath::First(const JsonTree& root) const {
  const std::vector<const JsonTree*> found = Find(root);
  return found.empty() ? nullptr : found.front();
}

std::optional<std::vector<std::string>> JsonPath::Members() const {
  std::vector<std::string> names;
  for (const Step& step : steps_) {
    if (step.kind != Kind::kMember) {
      return std::nullopt;
    }
    names.push_back(step.name);
  }
  return names;
}

}  // namespace kubexx::apiserver::schema
