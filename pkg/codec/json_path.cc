#include "kubexx/codec/json_path.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "kubexx/base/function_ref.h"
#include "kubexx/codec/internal/json_path_parser.h"

namespace kubexx::codec {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using internal::PathOperator;
using internal::PathPiece;
using internal::PathStep;

namespace {

using Values = std::vector<const JsonTree*>;

Error PathFailure(std::string what) {
  return Fail(Reason::kBadRequest, "JSONPath: " + std::move(what));
}

/// Two values of a filter. Numbers and strings have an order; other values have none, and cannot be
/// compared with those of another type.
Result<std::partial_ordering> Compared(const JsonTree& left, const JsonTree& right) {
  if (left.type() == right.type()) {
    switch (left.type()) {
      case JsonTree::Type::kBool:
        return left == right ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
      case JsonTree::Type::kString:
        return std::partial_ordering(*left.AsString() <=> *right.AsString());
      case JsonTree::Type::kNumber: {
        const auto a = left.AsInt();
        const auto b = right.AsInt();
        return a && b ? std::partial_ordering(*a <=> *b)
                      : left.AsDouble().value_or(0) <=> right.AsDouble().value_or(0);
      }
      default:
        break;
    }
  }
  return PathFailure("incompatible types for comparison");
}

/// Finds the values of one template in one tree.
class PathFinder {
 public:
  explicit PathFinder(const JsonPathOptions& options)
      : options_(options), budget_(options.max_values) {}

  /// Calls `give` with the values of each piece that gives some.
  Result<void> Run(const std::vector<PathPiece>& pieces, const JsonTree& root,
                   base::FunctionRef<Result<void>(const Values&)> give) {
    for (const PathPiece& piece : pieces) {
      KX_RETURN_IF_ERROR(Spend(1));
      KX_ASSIGN_OR_RETURN(const Values values, Walk(piece.steps, {&root}));
      if (!piece.is_range) {
        KX_RETURN_IF_ERROR(give(values));
        continue;
      }
      for (const JsonTree* const value : values) {
        KX_RETURN_IF_ERROR(Run(piece.body, *value, give));
      }
    }
    return {};
  }

 private:
  // Each step spends at least as much as it gives, before it gives it: nothing that is kept on the
  // way or in the end has more values than the budget.
  Result<Values> Walk(const std::vector<PathStep>& steps, Values values) {
    for (const PathStep& step : steps) {
      KX_RETURN_IF_ERROR(Spend(1 + values.size()));
      Values next;
      KX_RETURN_IF_ERROR(Take(step, values, next));
      values = std::move(next);
    }
    return values;
  }

  Result<void> Spend(std::size_t values) {
    if (values > budget_) {
      exhausted_ = true;
      return PathFailure("it would look at more than " + std::to_string(options_.max_values) +
                         " values");
    }
    budget_ -= values;
    return {};
  }

  Result<void> Take(const PathStep& step, const Values& from, Values& to) {
    switch (step.kind) {
      case PathStep::Kind::kField:
        return Fields(step, from, to);
      case PathStep::Kind::kSlice:
        return EachValue(from, [&](const JsonTree& value) { return Slice(step, value, to); });
      case PathStep::Kind::kUnion:
        for (const auto& path : step.paths) {
          KX_ASSIGN_OR_RETURN(const Values values, Walk(path, from));
          KX_RETURN_IF_ERROR(Spend(1 + values.size()));
          to.insert(to.end(), values.begin(), values.end());
        }
        return {};
      case PathStep::Kind::kFilter:
        for (const JsonTree* const value : from) {
          KX_RETURN_IF_ERROR(Filter(step, *value, to));
        }
        return {};
      case PathStep::Kind::kWildcard:
        return EachValue(from, [&](const JsonTree& value) { return Children(value, to); });
      case PathStep::Kind::kRecursive:
        return EachValue(from, [&](const JsonTree& value) { return Descend(value, to); });
      case PathStep::Kind::kLiteral:
        to.assign(from.size(), &step.literal);
        return {};
      case PathStep::Kind::kText:
        to.push_back(&step.literal);
        return {};
    }
    return {};
  }

  static Result<void> EachValue(const Values& from,
                                base::FunctionRef<Result<void>(const JsonTree&)> take) {
    for (const JsonTree* const value : from) {
      if (!value->IsNull()) {
        KX_RETURN_IF_ERROR(take(*value));
      }
    }
    return {};
  }

  Result<void> Fields(const PathStep& step, const Values& from, Values& to) const {
    for (const JsonTree* const value : from) {
      if (const JsonTree* const member = value->Find(step.name)) {
        to.push_back(member);
      }
    }
    if (to.empty() && !from.empty() && !options_.allow_missing_keys) {
      return PathFailure(step.name + " is not found");
    }
    return {};
  }

  Result<void> Slice(const PathStep& step, const JsonTree& value, Values& to) {
    if (!value.IsArray()) {
      return PathFailure("a value is not an array, and has no elements");
    }
    const auto length = static_cast<std::int64_t>(value.elements().size());
    std::int64_t begin = step.slice[0].value_or(0);
    begin += begin < 0 ? length : 0;
    std::int64_t end = step.slice[1].value_or(length);
    end += end < 0 ? length : 0;
    if (!step.single_index && begin == end) {
      return {};
    }
    if (begin < 0 || begin >= length) {
      return OutOfBounds(begin, length);
    }
    if (step.single_index) {
      end = begin + 1;
    }
    if (end < 0 || end > length) {
      return OutOfBounds(end, length);
    }
    const std::int64_t stride = step.slice[2].value_or(1);
    if (begin > end || stride <= 0) {
      return PathFailure(stride <= 0 ? "step must be > 0"
                                     : "starting index " + std::to_string(begin) +
                                           " is greater than ending index " + std::to_string(end));
    }
    if (!step.single_index) {
      KX_RETURN_IF_ERROR(Spend(static_cast<std::size_t>((end - begin - 1) / stride + 1)));
    }
    for (std::int64_t i = begin; i < end; i += std::min(stride, length)) {
      to.push_back(&value.elements()[static_cast<std::size_t>(i)]);
    }
    return {};
  }
  static Error OutOfBounds(std::int64_t index, std::int64_t length) {
    return PathFailure("array index out of bounds: index " + std::to_string(index) + ", length " +
                       std::to_string(length));
  }

  Result<void> Children(const JsonTree& value, Values& to) {
    KX_RETURN_IF_ERROR(Spend(value.size()));
    for (const JsonTree::Member& member : value.members()) {
      to.push_back(&member.value);
    }
    for (const JsonTree& element : value.elements()) {
      to.push_back(&element);
    }
    return {};
  }

  // The value and what is below it, each before what is in it; empty values and numbers are not
  // among them. A tree is at most 512 levels deep.
  Result<void> Descend(const JsonTree& value, Values& to) {
    KX_RETURN_IF_ERROR(Spend(1));
    const std::string* const text = value.AsString();
    if (text != nullptr ? text->empty() : value.size() == 0) {
      return {};
    }
    to.push_back(&value);
    for (const JsonTree::Member& member : value.members()) {
      KX_RETURN_IF_ERROR(Descend(member.value, to));
    }
    for (const JsonTree& element : value.elements()) {
      KX_RETURN_IF_ERROR(Descend(element, to));
    }
    return {};
  }

  Result<void> Filter(const PathStep& step, const JsonTree& value, Values& to) {
    if (!value.IsArray()) {
      return PathFailure("a value is not an array, and cannot be filtered");
    }
    KX_RETURN_IF_ERROR(Spend(value.size()));
    for (const JsonTree& element : value.elements()) {
      KX_ASSIGN_OR_RETURN(const bool passes, Passes(step, element));
      if (passes) {
        to.push_back(&element);
      }
    }
    return {};
  }

  Result<bool> Passes(const PathStep& step, const JsonTree& element) {
    auto left = Walk(step.paths[0], {&element});
    if (step.op == PathOperator::kExists) {
      if (!exhausted_) {  // another error means that there is no such value
        return left.has_value() && !left->empty();
      }
    }
    if (!left) {
      return left.error();
    }
    KX_ASSIGN_OR_RETURN(const Values right, Walk(step.paths[1], {&element}));
    if (left->empty() || right.empty()) {
      return false;
    }
    if (left->size() > 1 || right.size() > 1) {
      return PathFailure("can only compare one element at a time");
    }
    KX_ASSIGN_OR_RETURN(const std::partial_ordering order,
                        Compared(*left->front(), *right.front()));
    switch (step.op) {
      case PathOperator::kEqual:
        return order == 0;
      case PathOperator::kNotEqual:
        return order != 0;
      case PathOperator::kLess:
        return order < 0;
      case PathOperator::kLessOrEqual:
        return order <= 0;
      case PathOperator::kGreater:
        return order > 0;
      default:
        return order >= 0;
    }
  }

  const JsonPathOptions& options_;
  std::size_t budget_;
  bool exhausted_ = false;
};

JsonTree WithSortedKeys(const JsonTree& value) {
  if (value.IsArray()) {
    JsonTree out = JsonTree::Array();
    for (const JsonTree& element : value.elements()) {
      out.Append(WithSortedKeys(element));
    }
    return out;
  }
  if (!value.IsObject()) {
    return value;
  }
  std::vector<JsonTree::Member> members;
  members.reserve(value.size());
  for (const JsonTree::Member& member : value.members()) {
    members.push_back({member.key, WithSortedKeys(member.value)});
  }
  std::ranges::sort(members, {}, &JsonTree::Member::key);
  return JsonTree::Object(std::move(members));
}

// As Go prints a float64: the shortest digits, with an exponent from 1e21 on and below 1e-4.
std::string TextOfReal(double value) {
  std::array<char, 64> text{};
  const double size = value < 0 ? -value : value;
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e21);
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

void AppendValue(const JsonTree& value, std::string& out) {
  switch (value.type()) {
    case JsonTree::Type::kString:
      out += *value.AsString();
      return;
    case JsonTree::Type::kNumber:
      out +=
          value.AsInt() ? std::to_string(*value.AsInt()) : TextOfReal(value.AsDouble().value_or(0));
      return;
    case JsonTree::Type::kArray:
    case JsonTree::Type::kObject:
      WithSortedKeys(value).AppendJson(out);
      return;
    default:
      value.AppendJson(out);
  }
}

}  // namespace

struct JsonPath::Template {
  std::vector<PathPiece> pieces{};
};

JsonPath::JsonPath(std::shared_ptr<const Template> parsed) : template_(std::move(parsed)) {}
JsonPath::JsonPath(const JsonPath&) = default;
JsonPath::JsonPath(JsonPath&&) noexcept = default;
JsonPath& JsonPath::operator=(const JsonPath&) = default;
JsonPath& JsonPath::operator=(JsonPath&&) noexcept = default;
JsonPath::~JsonPath() = default;

Result<JsonPath> JsonPath::Parse(std::string_view text) {
  auto parsed = std::make_shared<Template>();
  KX_ASSIGN_OR_RETURN(parsed->pieces, internal::ParsePathTemplate(text));
  return JsonPath(std::move(parsed));
}

Result<JsonPath> JsonPath::ParseRelaxed(std::string_view text) {
  std::string_view path = text;
  if (path.starts_with('{') && path.ends_with('}')) {
    path = path.substr(1, path.size() - 2);
  }
  if (path.empty()) {
    return Parse({});
  }
  if (path.find_first_of("{}") != std::string_view::npos) {
    return PathFailure("a single path may have braces only around it: \"" +
                       std::string(text.substr(0, 40)) + "\"");
  }
  const bool complete = path.starts_with('.') || path.starts_with('[');
  return Parse(std::string(complete ? "{" : "{.").append(path).append("}"));
}

Result<std::vector<const JsonTree*>> JsonPath::Find(const JsonTree& root,
                                                    const JsonPathOptions& options) const {
  Values found;
  KX_RETURN_IF_ERROR(PathFinder(options).Run(
      template_->pieces, root, [&found](const Values& values) -> Result<void> {
        found.insert(found.end(), values.begin(), values.end());
        return {};
      }));
  return found;
}

Result<std::string> JsonPath::Print(const JsonTree& root, const JsonPathOptions& options) const {
  std::string out;
  KX_RETURN_IF_ERROR(
      PathFinder(options).Run(template_->pieces, root, [&](const Values& values) -> Result<void> {
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (i > 0) {
            out += ' ';
          }
          AppendValue(*values[i], out);
          if (out.size() > options.max_bytes) {
            return PathFailure("the text has more than " + std::to_string(options.max_bytes) +
                               " bytes");
          }
        }
        return {};
      }));
  return out;
}

}  // namespace kubexx::codec
