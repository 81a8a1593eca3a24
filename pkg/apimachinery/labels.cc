#include "kubexx/apimachinery/labels.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/base/ascii.h"
#include "kubexx/base/text/join.h"

namespace kubexx::apimachinery {
namespace {

constexpr std::size_t kMaxNameLength = 63;

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameLength && base::IsAlphanumeric(text.front()) &&
         base::IsAlphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
           return base::IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsSymbol(char c) { return std::string_view("=!,()><").find(c) != std::string_view::npos; }

/// Recursive descent over the selector's text; the grammar needs one token of look-ahead.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<LabelRequirement>> Run() {
    std::vector<LabelRequirement> out;
    SkipSpace();
    if (AtEnd()) {
      return out;
    }
    while (true) {
      KX_ASSIGN_OR_RETURN(LabelRequirement requirement, ParseRequirement());
      out.push_back(std::move(requirement));
      if (AtEnd()) {
        return out;
      }
      if (!Take(",")) {
        return Bad("expected \",\"");
      }
    }
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }

  void SkipSpace() {
    while (!AtEnd() && IsSpace(text_[at_])) {
      ++at_;
    }
  }

  bool Take(std::string_view symbol) {
    if (!text_.substr(at_).starts_with(symbol)) {
      return false;
    }
    at_ += symbol.size();
    SkipSpace();
    return true;
  }

  std::string_view Word() {
    const std::size_t begin = at_;
    while (!AtEnd() && !IsSpace(text_[at_]) && !IsSymbol(text_[at_])) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    SkipSpace();
    return word;
  }

  Error Bad(std::string_view what) const {
    return Fail(Reason::kBadRequest,
                "label selector \"" + std::string(text_.substr(0, 256)) +
                    "\": " + std::string(what) + " at offset " + std::to_string(at_),
                400);
  }

  Result<std::string> Key() {
    const std::string_view word = Word();
    if (!IsValidLabelKey(word)) {
      return Bad(word.empty() ? "expected a label key" : "bad label key");
    }
    return std::string(word);
  }

  Result<std::string> Value() {
    const std::string_view word = Word();
    if (!IsValidLabelValue(word)) {
      return Bad("bad label value");
    }
    return std::string(word);
  }

  Result<LabelRequirement> ParseRequirement() {
    LabelRequirement out;
    if (Take("!")) {
      KX_ASSIGN_OR_RETURN(out.key, Key());
      out.op = SelectorOperator::kDoesNotExist;
      return out;
    }
    KX_ASSIGN_OR_RETURN(out.key, Key());
    if (AtEnd() || text_[at_] == ',') {
      return out;
    }
    if (Take("==") || Take("=")) {
      out.op = SelectorOperator::kEquals;
    } else if (Take("!=")) {
      out.op = SelectorOperator::kNotEquals;
    } else if (Take(">")) {
      out.op = SelectorOperator::kGreaterThan;
    } else if (Take("<")) {
      out.op = SelectorOperator::kLessThan;
    } else {
      return ParseSet(std::move(out));
    }
    KX_ASSIGN_OR_RETURN(std::string value, Value());
    const bool numeric =
        out.op == SelectorOperator::kGreaterThan || out.op == SelectorOperator::kLessThan;
    if (numeric && !ParseInteger(value)) {
      return Bad("expected an integer");
    }
    out.values.push_back(std::move(value));
    return out;
  }

  Result<LabelRequirement> ParseSet(LabelRequirement out) {
    const std::string_view word = Word();
    if (word != "in" && word != "notin") {
      return Bad("expected an operator");
    }
    out.op = word == "in" ? SelectorOperator::kIn : SelectorOperator::kNotIn;
    if (!Take("(")) {
      return Bad("expected \"(\"");
    }
    do {
      KX_ASSIGN_OR_RETURN(std::string value, Value());
      out.values.push_back(std::move(value));
    } while (Take(","));
    if (!Take(")")) {
      return Bad("expected \")\"");
    }
    std::ranges::sort(out.values);
    const auto rest = std::ranges::unique(out.values);
    out.values.erase(rest.begin(), rest.end());
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool Compare(const LabelRequirement& requirement, std::string_view value) {
  const auto left = ParseInteger(value);
  const auto right = ParseInteger(requirement.values.front());
  if (!left || !right) {
    return false;
  }
  return requirement.op == SelectorOperator::kGreaterThan ? *left > *right : *left < *right;
}

}  // namespace

bool IsValidLabelKey(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return IsName(text);
  }
  return IsDnsSubdomain(text.substr(0, slash)) && IsName(text.substr(slash + 1));
}

bool IsValidLabelValue(std::string_view text) { return text.empty() || IsName(text); }

bool LabelRequirement::Matches(const LabelMap& labels) const {
  const auto found = labels.find(key);
  return Admits(found == labels.end() ? std::nullopt
                                      : std::optional<std::string_view>(found->second));
}

bool LabelRequirement::Admits(std::optional<std::string_view> value) const {
  const bool exists = value.has_value();
  const bool listed = exists && std::ranges::find(values, *value) != values.end();
  switch (op) {
    case SelectorOperator::kExists:
      return exists;
    case SelectorOperator::kDoesNotExist:
      return !exists;
    case SelectorOperator::kEquals:
    case SelectorOperator::kIn:
      return listed;
    case SelectorOperator::kNotEquals:
    case SelectorOperator::kNotIn:
      return !listed;
    case SelectorOperator::kGreaterThan:
    case SelectorOperator::kLessThan:
      return exists && Compare(*this, *value);
  }
  return false;
}

std::string LabelRequirement::ToString() const {
  switch (op) {
    case SelectorOperator::kExists:
      return key;
    case SelectorOperator::kDoesNotExist:
      return "!" + key;
    case SelectorOperator::kEquals:
      return key + "=" + base::Join(values, ",");
    case SelectorOperator::kNotEquals:
      return key + "!=" + base::Join(values, ",");
    case SelectorOperator::kIn:
      return key + " in (" + base::Join(values, ",") + ")";
    case SelectorOperator::kNotIn:
      return key + " notin (" + base::Join(values, ",") + ")";
    case SelectorOperator::kGreaterThan:
      return key + ">" + base::Join(values, ",");
    case SelectorOperator::kLessThan:
      return key + "<" + base::Join(values, ",");
  }
  return {};
}

LabelSelector::LabelSelector(std::vector<LabelRequirement> requirements)
    : requirements_(std::move(requirements)) {
  std::ranges::stable_sort(requirements_, {}, &LabelRequirement::key);
}

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  KX_ASSIGN_OR_RETURN(auto requirements, Parser(text).Run());
  return LabelSelector(std::move(requirements));
}

LabelSelector LabelSelector::FromMap(const LabelMap& labels) {
  std::vector<LabelRequirement> requirements;
  for (const auto& [key, value] : labels) {
    requirements.push_back({key, SelectorOperator::kEquals, {value}});
  }
  return LabelSelector(std::move(requirements));
}

bool LabelSelector::Matches(const LabelMap& labels) const {
  return std::ranges::all_of(
      requirements_, [&labels](const LabelRequirement& each) { return each.Matches(labels); });
}

std::string LabelSelector::ToString() const {
  std::string out;
  for (const LabelRequirement& requirement : requirements_) {
    out += (out.empty() ? "" : ",") + requirement.ToString();
  }
  return out;
}

}  // namespace kubexx::apimachinery
