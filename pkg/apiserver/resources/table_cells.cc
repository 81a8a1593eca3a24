#include "kubexx/apiserver/resources/table_cells.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/text/join.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// One term of a label selector.
struct SelectorTerm {
  std::string key{};
  std::string text{};
};

SelectorTerm TermOf(const JsonTree& expression) {
  const std::string key(expression.TextAt("key"));
  const std::string_view word = expression.TextAt("operator");
  if (word == "Exists") {
    return {.key = key, .text = key};
  }
  if (word == "DoesNotExist") {
    return {.key = key, .text = "!" + key};
  }
  std::vector<std::string> values = StringsAt(expression, "values");
  std::ranges::sort(values);
  const char* const relation = word == "NotIn" ? " notin (" : " in (";
  return {.key = key, .text = key + relation + base::Join(values, ",") + ")"};
}

}  // namespace

std::string HumanDuration(base::Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const auto text = [](auto big, const char* unit, auto small = 0, const char* small_unit = "") {
    return std::to_string(big) + unit + (small == 0 ? "" : std::to_string(small) + small_unit);
  };
  if (seconds < -1) {
    return "<invalid>";
  }
  const auto minutes = seconds / 60;
  const auto hours = minutes / 60;
  const auto days = hours / 24;
  const auto none = decltype(seconds){0};
  if (seconds < 120) {
    return text(seconds < 0 ? none : seconds, "s", none);
  }
  if (minutes < 10) {
    return text(minutes, "m", seconds % 60, "s");
  }
  if (hours < 3) {
    return text(minutes, "m", none);
  }
  if (hours < 8) {
    return text(hours, "h", minutes % 60, "m");
  }
  if (days < 2) {
    return text(hours, "h", none);
  }
  if (days < 8) {
    return text(days, "d", hours % 24, "h");
  }
  if (days < 2 * 365) {
    return text(days, "d", none);
  }
  return days < 8 * 365 ? text(days / 365, "y", days % 365, "d") : text(days / 365, "y", none);
}

std::string SinceText(std::string_view time) {
  const auto parsed = apimachinery::MicroTime::Parse(time);
  if (!parsed) {
    return "<unknown>";
  }
  const auto then = std::chrono::system_clock::time_point(std::chrono::seconds(parsed->seconds));
  return HumanDuration(base::Clock::Real().Wall() - then);
}

std::int64_t NumberAt(const JsonTree& object, CellPath path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

bool FlagAt(const JsonTree& object, CellPath path) {
  const JsonTree* const found = object.At(path);
  return found != nullptr && found->AsBool().value_or(false);
}

std::optional<std::string> ValueAt(const JsonTree& object, CellPath path) {
  const JsonTree* const found = object.At(path);
  if (found == nullptr || found->IsNull()) {
    return std::nullopt;
  }
  return found->AsString() == nullptr ? found->ToJson() : *found->AsString();
}

std::size_t SizeAt(const JsonTree& object, CellPath path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->size();
}

std::string OrElse(std::string text, std::string_view none) {
  return text.empty() ? std::string(none) : std::move(text);
}

std::string JoinedAt(const JsonTree& object, CellPath path) {
  std::vector<std::string> parts;
  for (const JsonTree& element : ElementsAt(object, path)) {
    if (const std::string* const text = element.AsString()) {
      parts.push_back(*text);
    }
  }
  return base::Join(parts, ",");
}

std::string MembersAt(const JsonTree& object, CellPath path, std::string_view member) {
  std::vector<std::string> parts;
  for (const JsonTree& element : ElementsAt(object, path)) {
    parts.emplace_back(element.TextAt(member));
  }
  return base::Join(parts, ",");
}

std::string FirstOf(std::vector<std::string> parts, std::size_t most, std::string_view separator) {
  const std::size_t count = parts.size();
  parts.resize(std::min(count, most));
  return WithMore(parts, count, separator);
}

std::string WithMore(const std::vector<std::string>& shown, std::size_t count,
                     std::string_view separator) {
  const std::string text = base::Join(shown, separator);
  return count <= shown.size() ? text
                               : text + " + " + std::to_string(count - shown.size()) + " more...";
}

std::string LabelsAt(const JsonTree& object, CellPath path) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : LabelMapOf(object.At(path))) {
    parts.push_back(key + "=" + value);
  }
  std::ranges::sort(parts);
  return OrElse(base::Join(parts, ","));
}

std::string SelectorText(const JsonTree& selector) {
  std::vector<SelectorTerm> terms;
  for (const auto& [key, value] : LabelMapOf(selector.Find("matchLabels"))) {
    terms.push_back({.key = key, .text = key + "=" + value});
  }
  for (const JsonTree& expression : ElementsAt(selector, {"matchExpressions"})) {
    terms.push_back(TermOf(expression));
  }
  std::ranges::stable_sort(terms, {}, &SelectorTerm::key);
  std::vector<std::string> parts;
  parts.reserve(terms.size());
  for (SelectorTerm& term : terms) {
    parts.push_back(std::move(term.text));
  }
  return base::Join(parts, ",");
}

std::string SelectorAt(const JsonTree& object, CellPath path) {
  const JsonTree* const selector = object.At(path);
  return OrElse(selector == nullptr ? std::string() : SelectorText(*selector));
}

JsonTree NameCell(const JsonTree& object) { return MetaString(object, "name"); }

JsonTree AgeCell(const JsonTree& object) {
  return SinceText(MetaString(object, "creationTimestamp"));
}

JsonTree CreatedCell(const JsonTree& object) { return MetaString(object, "creationTimestamp"); }

}  // namespace kubexx::apiserver
