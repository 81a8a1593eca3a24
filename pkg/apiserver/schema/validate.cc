#include "kubexx/apiserver/schema/validate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "kubexx/apiserver/schema/cause_list.h"
#include "kubexx/apiserver/schema/causes.h"
#include "kubexx/apiserver/schema/formats.h"
#include "kubexx/apiserver/schema/internal/lists.h"
#include "kubexx/apiserver/schema/internal/values.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/thread_time.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;
using internal::kBytesPerStep;

bool IsInteger(const JsonTree& value) {
  const auto number = value.AsDouble();
  return value.AsInt().has_value() || (number && std::trunc(*number) == *number);
}

const char* TypeName(const JsonTree& value) {
  switch (value.type()) {
    case JsonTree::Type::kNull:
      return "null";
    case JsonTree::Type::kBool:
      return "boolean";
    case JsonTree::Type::kNumber:
      return IsInteger(value) ? "integer" : "number";
    case JsonTree::Type::kString:
      return "string";
    case JsonTree::Type::kArray:
      return "array";
    case JsonTree::Type::kObject:
      break;
  }
  return "object";
}

/// Returns the number of characters, not bytes.
std::int64_t Length(std::string_view text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

/// Writes 1 and not 1.000000.
std::string NumberText(double number) { return JsonTree(number).ToJson(); }

class Validator {
 public:
  Validator(std::string path, Budget& budget, std::vector<StatusCause>& causes)
      : path_(std::move(path)), budget_(budget), all_(causes) {}

  void Check(const Schema& schema, const JsonTree& value, const JsonTree* old) {
    budget_.Spend(
        value.type() == JsonTree::Type::kNumber ? 1 + value.ToJson().size() / kBytesPerStep : 1);
    if (Done() || (old != nullptr && internal::Same(*old, value, budget_))) {
      return;
    }
    CheckType(schema, value);
    CheckEnum(schema, value);
    if (value.IsNull()) {
      return;
    }
    CheckJunctors(schema, value);
    if (const std::string* const text = value.AsString()) {
      CheckString(schema, *text);
    } else if (const auto number = value.AsDouble()) {
      CheckNumber(schema, value, *number);
    } else if (value.IsArray()) {
      CheckArray(schema, value, old);
    } else if (value.IsObject()) {
      CheckObject(schema, value, old);
    }
  }

 private:
  /// Adds to the path during its lifetime.
  class Step {
   public:
    Step(std::string& path, std::string_view text) : path_(path), size_(path.size()) {
      path_ += text;
    }
    ~Step() { path_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& path_;
    const std::size_t size_;
  };

  std::string Member(std::string_view key) const {
    return (path_.empty() ? "" : ".") + std::string(key);
  }
  /// Whether further faults would not be reported any more.
  bool Done() const { return causes_->full() || budget_.ended(); }
  /// Adds nothing once the budget has ended, because a value that was not checked is neither valid
  /// nor invalid.
  void Add(StatusCause cause) {
    if (budget_.ended()) {
      return;
    }
    budget_.Spend(kStepsOfCause + (cause.field.size() + cause.message.size()) / kCauseBytesPerStep);
    causes_->Add(std::move(cause));
  }
  /// Returns the path as the field of Add.
  std::string Field() const { return path_.empty() ? "<nil>" : path_; }
  void Should(const JsonTree& value, const std::string& what) {
    Add(InvalidCause(Field(), value, path_ + " in body should " + what));
  }
  void MustBe(const JsonTree& shown, std::string_view type) {
    Add(TypeCause(Field(), shown,
                  path_ + " in body must be of type " + std::string(type) + ": " + shown.ToJson()));
  }

  void CheckType(const Schema& schema, const JsonTree& value) {
    const std::string_view type =
        schema.int_or_string ? std::string_view("integer,string") : std::string_view(schema.type);
    if (type.empty() || (value.IsNull() && schema.nullable)) {
      return;
    }
    const std::string_view actual = TypeName(value);
    const bool fits = schema.int_or_string
                          ? actual == "integer" || actual == "string"
                          : actual == type || (type == "number" && actual == "integer");
    if (!fits) {
      MustBe(actual, type);
    }
  }

  void CheckEnum(const Schema& schema, const JsonTree& value) {
    const auto& values = schema.enum_values;
    const auto same = [&](const JsonTree& one) { return internal::Same(one, value, budget_); };
    if (!values.empty() && std::ranges::none_of(values, same) &&
        !(value.IsNull() && schema.nullable)) {
      Add(NotSupportedCause(Field(), value, values));
    }
  }

  void CheckString(const Schema& schema, const std::string& text) {
    budget_.Spend(text.size() / kBytesPerStep);
    if (schema.max_length && Length(text) > *schema.max_length) {
      Add(TooLongCause(Field(), *schema.max_length));
    }
    if (schema.min_length && Length(text) < *schema.min_length) {
      Should(text, "be at least " + std::to_string(*schema.min_length) + " chars long");
    }
    if (schema.pattern && !MatchesPattern(*schema.pattern, text)) {
      Should(text, "match '" + schema.pattern->text() + "'");
    }
    if (!schema.format.empty() && !HasFormat(schema.format, text)) {
      MustBe(text, schema.format);
    }
  }

  bool MatchesPattern(const Pattern& pattern, const std::string& text) {
    // Mostly a byte takes one step. With some patterns and texts it takes many of the instructions,
    // and only the clock shows which. A match cannot be interrupted, so a match is not started if
    // it could use up the whole budget.
    const std::size_t most = text.size() * (1 + pattern.size() / kInstructionsPerStep);
    if (most <= kFewSteps || most > budget_.max_steps()) {
      budget_.Spend(most);
      return budget_.ended() || pattern.Matches(text);
    }
    const base::Duration before = base::ThreadCpuTime();
    const bool matches = pattern.Matches(text);
    budget_.Spend(static_cast<std::size_t>((base::ThreadCpuTime() - before) / kTimeOfStep));
    return matches;
  }

  void CheckNumber(const Schema& schema, const JsonTree& value, double number) {
    if (schema.multiple_of && *schema.multiple_of > 0) {
      const double quotient = number / *schema.multiple_of;
      if (std::abs(quotient - std::round(quotient)) > 1e-9 * std::max(1.0, std::abs(quotient))) {
        Should(value, "be a multiple of " + NumberText(*schema.multiple_of));
      }
    }
    if (schema.maximum &&
        (number > *schema.maximum || (schema.exclusive_maximum && number == *schema.maximum))) {
      Should(value, std::string("be less than ") +
                        (schema.exclusive_maximum ? "" : "or equal to ") +
                        NumberText(*schema.maximum));
    }
    if (schema.minimum &&
        (number < *schema.minimum || (schema.exclusive_minimum && number == *schema.minimum))) {
      Should(value, std::string("be greater than ") +
                        (schema.exclusive_minimum ? "" : "or equal to ") +
                        NumberText(*schema.minimum));
    }
    const bool too_big_for_32 = number > std::numeric_limits<std::int32_t>::max() ||
                                number < std::numeric_limits<std::int32_t>::min();
    if ((schema.format == "int32" && too_big_for_32) ||
        (schema.format == "int64" && !value.AsInt() && std::abs(number) >= 0x1p63)) {
      Add(InvalidCause(
          "<nil>", "",
          "Checked value must be of type integer with format " + schema.format + " in " + path_));
    }
  }

  void CheckArray(const Schema& schema, const JsonTree& value, const JsonTree* old) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (schema.max_items && size > *schema.max_items) {
      Add(TooManyCause(Field(), value.size(), *schema.max_items));
    }
    if (schema.min_items && size < *schema.min_items) {
      Should(size, "have at least " + std::to_string(*schema.min_items) + " items");
    }
    if (schema.unique_items) {
      CheckDistinct(value);
    }
    if (schema.items == nullptr) {
      return;
    }
    const auto before = ByKeys(schema, old);
    std::size_t index = 0;
    for (const JsonTree& element : value.elements()) {
      const Step step(path_, "[" + std::to_string(index++) + "]");
      const auto same =
          before.empty() ? before.end() : before.find(internal::KeyText(schema, element, budget_));
      Check(*schema.items, element, same == before.end() ? nullptr : same->second);
      if (Done()) {
        return;
      }
    }
  }

  /// Returns the elements of a map-like list by their keys.
  std::map<std::string, const JsonTree*> ByKeys(const Schema& schema, const JsonTree* list) {
    std::map<std::string, const JsonTree*> elements;
    if (list != nullptr && schema.list_type == ListType::kMap) {
      for (const JsonTree& element : list->elements()) {
        if (budget_.ended()) {
          break;
        }
        elements.emplace(internal::KeyText(schema, element, budget_), &element);
      }
    }
    return elements;
  }

  void CheckDistinct(const JsonTree& value) {
    std::set<std::string> seen;
    for (const JsonTree& element : value.elements()) {
      if (budget_.ended()) {
        return;
      }
      if (!seen.insert(internal::SortedText(element, budget_)).second) {
        Should(value, "have unique items");
        return;
      }
    }
  }

  void CheckObject(const Schema& schema, const JsonTree& value, const JsonTree* old) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (schema.max_properties && size > *schema.max_properties) {
      Add(TooManyCause(Field(), value.size(), *schema.max_properties));
    }
    if (schema.min_properties && size < *schema.min_properties) {
      Should(size, "have at least " + std::to_string(*schema.min_properties) + " properties");
    }
    budget_.Spend(schema.required.size() + value.size() + (old == nullptr ? 0 : old->size()));
    const codec::MemberIndex own(schema.required.empty() ? nullptr : &value);
    for (const std::string& name : schema.required) {
      if (Done()) {
        return;
      }
      if (own.Find(name) == nullptr) {
        Add(RequiredCause(path_ + Member(name)));
      }
    }
    const codec::MemberIndex before(old);
    for (const JsonTree::Member& member : value.members()) {
      const Schema* const child = schema.Member(member.key);
      if (child == nullptr) {
        continue;
      }
      budget_.Spend(member.key.size() / kBytesPerStep);
      const Step step(path_, Member(member.key));
      Check(*child, member.value, before.Find(member.key));
      if (Done()) {
        return;
      }
    }
  }

  /// Collects what `schema` reports about the value, apart from the other faults.
  std::vector<StatusCause> Try(const Schema& schema, const JsonTree& value) {
    budget_.Spend(kStepsOfTry);
    std::vector<StatusCause> found;
    CauseList apart(found);
    CauseList* const outer = std::exchange(causes_, &apart);
    Check(schema, value, nullptr);
    causes_ = outer;
    return found;
  }

  void AddAll(std::vector<StatusCause> causes) {
    for (StatusCause& cause : causes) {
      Add(std::move(cause));
    }
  }

  void Must(const std::string& what) {
    Add(InvalidCause("<nil>", "", JsonTree(path_).ToJson() + " must " + what));
  }

  void CheckJunctors(const Schema& schema, const JsonTree& value) {
    if (!schema.any_of.empty()) {
      CheckAnyOf(schema, value);
    }
    if (!schema.one_of.empty()) {
      CheckOneOf(schema, value);
    }
    if (!schema.all_of.empty()) {
      bool all = true;
      for (const SchemaRef& one : schema.all_of) {
        if (Done()) {
          return;
        }
        std::vector<StatusCause> causes = Try(*one, value);
        all = all && causes.empty();
        AddAll(std::move(causes));
      }
      if (!all) {
        Must("validate all the schemas (allOf)");
      }
    }
    if (schema.not_ != nullptr && Try(*schema.not_, value).empty()) {
      Must("not validate the schema (not)");
    }
  }

  void CheckAnyOf(const Schema& schema, const JsonTree& value) {
    std::vector<StatusCause> fewest;
    for (const SchemaRef& one : schema.any_of) {
      if (Done()) {
        return;
      }
      std::vector<StatusCause> causes = Try(*one, value);
      if (causes.empty()) {
        return;
      }
      if (fewest.empty() || causes.size() < fewest.size()) {
        fewest = std::move(causes);
      }
    }
    Must("validate at least one schema (anyOf)");
    AddAll(std::move(fewest));
  }

  void CheckOneOf(const Schema& schema, const JsonTree& value) {
    std::size_t valid = 0;
    std::vector<StatusCause> fewest;
    for (const SchemaRef& one : schema.one_of) {
      if (Done()) {
        return;
      }
      std::vector<StatusCause> causes = Try(*one, value);
      if (causes.empty()) {
        ++valid;
      } else if (fewest.empty() || causes.size() < fewest.size()) {
        fewest = std::move(causes);
      }
    }
    if (valid == 1) {
      return;
    }
    Must("validate one and only one schema (oneOf). " +
         (valid == 0 ? "Found none valid"
                     : "Found " + std::to_string(valid) + " valid alternatives"));
    if (valid == 0) {
      AddAll(std::move(fewest));
    }
  }

  static constexpr std::size_t kInstructionsPerStep = 64;
  static constexpr std::size_t kFewSteps = 100;
  static constexpr base::Duration kTimeOfStep = std::chrono::nanoseconds(100);
  static constexpr std::size_t kStepsOfCause = 20;  // its texts have to be put together
  static constexpr std::size_t kCauseBytesPerStep = 4;
  static constexpr std::size_t kStepsOfTry = 4;

  std::string path_;
  Budget& budget_;
  CauseList all_;
  CauseList* causes_ = &all_;  // or those of an alternative that is being tried
};

}  // namespace

void Validate(const Schema& schema, const JsonTree& object, const JsonTree* old, Budget& budget,
              std::vector<StatusCause>& causes) {
  Validator("", budget, causes).Check(schema, object, old);
  std::vector<StatusCause> lists;
  internal::CheckLists(schema, object, "", budget, lists);
  if (old != nullptr && !lists.empty()) {
    std::vector<StatusCause> before;
    internal::CheckLists(schema, *old, "", budget, before);
    std::erase_if(lists, [&before](const StatusCause& cause) {
      return std::ranges::find(before, cause) != before.end();
    });
  }
  causes.insert(causes.end(), lists.begin(), lists.end());
  if (budget.spent()) {  // even when there are enough other causes
    causes.push_back(InvalidCause("<nil>", "", kTooMuchWork));
  }
}

void ValidateValue(const Schema& schema, const JsonTree& value, const std::string& path,
                   Budget& budget, std::vector<StatusCause>& causes) {
  Validator(path, budget, causes).Check(schema, value, nullptr);
  internal::CheckLists(schema, value, path, budget, causes);
}

}  // namespace kubexx::apiserver::schema
