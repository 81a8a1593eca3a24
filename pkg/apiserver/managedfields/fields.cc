// Makes sets of fields from values, and removes fields from values.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/managedfields/typed.h"

namespace kubexx::apiserver::managedfields {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using Shape = Type::Shape;

/// Whether a value is a field by itself, and the fields below it.
struct Found {
  bool leaf = false;
  FieldSet below{};
};

Found Collect(const Type& type, const JsonTree& value);

Found CollectMembers(const Type& type, const JsonTree& value) {
  if (type.AtomicMap()) {
    return {.leaf = true};
  }
  std::vector<FieldSet::Node> nodes;
  for (const JsonTree::Member& member : value.members()) {
    Found found = Collect(type.Member(member.key), member.value);
    const bool empty =
        member.value.IsNull() || (member.value.IsObject() && member.value.size() == 0);
    const bool is_member = found.leaf || empty || !type.Declares(member.key);
    if (is_member || !found.below.empty()) {
      nodes.push_back({PathElement::Field(member.key), is_member, std::move(found.below)});
    }
  }
  return {.below = FieldSet::FromNodes(std::move(nodes))};
}

Found CollectElements(const Type& type, const JsonTree& value) {
  if (type.AtomicList()) {
    return {.leaf = true};
  }
  std::map<PathElement, const JsonTree*> elements;  // null when several have the same name
  for (const JsonTree& element : value.elements()) {
    if (const auto step = type.StepTo(element)) {
      const auto [entry, is_new] = elements.emplace(*step, &element);
      entry->second = is_new ? &element : nullptr;
    }
  }
  Found all;
  for (const auto& [step, element] : elements) {
    // Elements that cannot be told apart belong together, whatever they contain.
    all.below.Append(
        {step, true, element == nullptr ? FieldSet() : Collect(type.Element(), *element).below});
  }
  return all;
}

Found Collect(const Type& type, const JsonTree& value) {
  switch (type.ShapeOf(value)) {
    case Shape::kScalar:
      break;
    case Shape::kMap:
      return CollectMembers(type, value);
    case Shape::kList:
      return CollectElements(type, value);
  }
  return {.leaf = true};
}

/// The limit for the text about the faults of a config, because a single path may be as long as the
/// config.
constexpr std::size_t kMaxFaultBytes = 64 << 10;

class Validator {
 public:
  void Visit(const Type& type, const JsonTree& value) {
    if (!type) {
      Complain("field not declared in schema");
      return;
    }
    if (const std::string_view problem = type.Mismatch(value); !problem.empty()) {
      Complain(std::string(problem) + ", got " + value.ToJson());
      return;
    }
    for (const JsonTree::Member& member : value.members()) {
      path_.push_back(PathElement::Field(member.key));
      Visit(type.Member(member.key), member.value);
      path_.pop_back();
    }
    if (value.IsArray()) {
      VisitList(type, value);
    }
  }

  Result<void> Verdict() const {
    if (faults_.empty()) {
      return {};
    }
    if (faults_.size() == 1) {
      return Fail(Reason::kMalformed, faults_.front());
    }
    std::string text = "errors:";
    for (const std::string& fault : faults_) {
      text += "\n  " + fault;
    }
    return Fail(Reason::kMalformed, text);
  }

 private:
  void VisitList(const Type& type, const JsonTree& value) {
    std::set<PathElement> seen;
    std::int64_t index = 0;
    for (const JsonTree& element : value.elements()) {
      PathElement step = PathElement::Index(index++);
      if (!type.AtomicList()) {
        auto named = type.StepTo(element);
        if (!named) {
          Complain("element " + step.text() + ": " + named.error().message);
          continue;
        }
        step = std::move(*named);
        if (!seen.insert(step).second) {
          Complain("duplicate entries for key " + step.ToString());
          continue;
        }
      }
      path_.push_back(step);
      Visit(type.Element(), element);
      path_.pop_back();
    }
  }

  void Complain(const std::string& what) {
    if (bytes_ < kMaxFaultBytes) {
      faults_.push_back(ToString(path_) + ": " + what);
      bytes_ += faults_.back().size();
    }
  }

  Path path_;
  std::vector<std::string> faults_;
  std::size_t bytes_ = 0;
};

JsonTree WithoutMembers(const Type& type, const JsonTree& value, const FieldSet& fields) {
  std::vector<JsonTree::Member> rest;
  for (const JsonTree::Member& member : value.members()) {
    const PathElement step = PathElement::Field(member.key);
    if (fields.HasMember(step)) {
      continue;
    }
    const FieldSet& below = fields.Below(step);
    rest.push_back({member.key, below.empty()
                                    ? member.value
                                    : Without(type.Member(member.key), member.value, below)});
  }
  return rest.empty() ? JsonTree() : JsonTree::Object(std::move(rest));
}

JsonTree WithoutElements(const Type& type, const JsonTree& value, const FieldSet& fields) {
  std::vector<JsonTree> rest;
  for (const JsonTree& element : value.elements()) {
    const auto step = type.StepTo(element);
    if (step && fields.HasMember(*step)) {
      continue;
    }
    const bool some = step && !fields.Below(*step).empty();
    rest.push_back(some ? Without(type.Element(), element, fields.Below(*step)) : element);
  }
  return rest.empty() ? JsonTree() : JsonTree::Array(std::move(rest));
}

/// Whether the fields below `type` belong to it as a whole.
bool IsAtomic(const Type& type) {
  const Shape shape = type.ShapeOf(JsonTree());
  return (shape == Shape::kMap && type.AtomicMap()) || (shape == Shape::kList && type.AtomicList());
}

Type TypeAt(const Type& type, const PathElement& step) {
  return step.kind() == PathElement::Kind::kField ? type.Member(step.text()) : type.Element();
}

}  // namespace

Result<void> Validate(const Type& type, const JsonTree& value) {
  Validator validator;
  validator.Visit(type, value);
  return validator.Verdict();
}

FieldSet FieldsOf(const Type& type, const JsonTree& value) { return Collect(type, value).below; }

JsonTree Without(const Type& type, const JsonTree& value, const FieldSet& fields) {
  switch (type.ShapeOf(value)) {
    case Shape::kMap:
      return value.size() == 0 || type.AtomicMap() ? JsonTree()
                                                   : WithoutMembers(type, value, fields);
    case Shape::kList:
      return value.size() == 0 || type.AtomicList() ? JsonTree()
                                                    : WithoutElements(type, value, fields);
    case Shape::kScalar:
      break;
  }
  return value;
}

FieldSet WithNamedFields(const Type& type, const FieldSet& fields) {
  FieldSet result;
  for (const FieldSet::Node& node : fields.nodes()) {
    const bool declared =
        node.element.kind() == PathElement::Kind::kField && type.Declares(node.element.text());
    FieldSet below = WithNamedFields(TypeAt(type, node.element), node.below);
    result.Append(
        {node.element, node.member || (declared && !node.below.empty()), std::move(below)});
  }
  return result;
}

void MakeDeclared(const Type& type, FieldSet& fields) {
  for (FieldSet::Node& node : fields.nodes()) {
    if (node.below.empty()) {
      continue;
    }
    const Type below = TypeAt(type, node.element);
    if (below && IsAtomic(below)) {
      node.member = true;
      node.below = FieldSet();
    } else if (below) {
      MakeDeclared(below, node.below);
    }
  }
}

}  // namespace kubexx::apiserver::managedfields
