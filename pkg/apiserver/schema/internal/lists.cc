#include "kubexx/apiserver/schema/internal/lists.h"

#include <algorithm>
#include <set>

#include "kubexx/apiserver/schema/causes.h"

namespace kubexx::apiserver::schema::internal {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;

/// Without the order of members, so that equal values have equal text.
void AppendSorted(const JsonTree& value, std::string& out) {
  if (value.IsObject()) {
    std::vector<const JsonTree::Member*> members;
    for (const JsonTree::Member& member : value.members()) {
      members.push_back(&member);
    }
    std::ranges::sort(members, {}, &JsonTree::Member::key);
    out += '{';
    for (const JsonTree::Member* const member : members) {
      JsonTree(member->key).AppendJson(out);
      AppendSorted(member->value, out);
    }
    out += '}';
  } else if (value.IsArray()) {
    out += '[';
    for (const JsonTree& element : value.elements()) {
      AppendSorted(element, out);
      out += ',';
    }
    out += ']';
  } else if (const auto number = value.AsDouble(); number && !value.AsInt()) {
    out += JsonTree(*number).ToJson();
  } else {
    value.AppendJson(out);
  }
}

}  // namespace

std::string SortedText(const JsonTree& value) {
  std::string text;
  AppendSorted(value, text);
  return text;
}

JsonTree KeysOf(const Schema& list, const JsonTree& element) {
  JsonTree keys = JsonTree::Object();
  for (const std::string& name : list.list_keys) {
    if (const JsonTree* const found = element.Find(name)) {
      keys[name] = *found;
    }
  }
  return keys;
}

namespace {

class ListChecker {
 public:
  ListChecker(std::string path, std::vector<StatusCause>& causes)
      : path_(std::move(path)), causes_(causes) {}

  void Check(const Schema& schema, const JsonTree& value) {
    if (value.IsArray() && schema.items != nullptr) {
      CheckElements(schema, value);
    } else if (value.IsObject()) {
      CheckMembers(schema, value);
    }
  }

 private:
  bool Full() const { return causes_.size() >= kMaxCauses || bytes_ >= kMaxCauseBytes; }
  void Add(StatusCause cause) {
    bytes_ += cause.field.size() + cause.message.size();
    causes_.push_back(std::move(cause));
  }

  void CheckElements(const Schema& schema, const JsonTree& value) {
    const std::size_t size = path_.size();
    std::set<std::string> seen;
    std::size_t index = 0;
    for (const JsonTree& element : value.elements()) {
      path_ += "[" + std::to_string(index++) + "]";
      const JsonTree identity =
          schema.list_type == ListType::kMap ? KeysOf(schema, element) : element;
      if (schema.list_type != ListType::kAtomic && !Full() &&
          !seen.insert(SortedText(identity)).second) {
        Add(DuplicateCause(path_, identity));
      }
      Check(*schema.items, element);
      path_.resize(size);
    }
  }

  void CheckMembers(const Schema& schema, const JsonTree& value) {
    if (schema.embedded_resource) {
      for (const char* const field : {"apiVersion", "kind"}) {
        if (!Full() && value.TextAt(field).empty()) {
          Add(RequiredCause(path_ + "." + field));
        }
      }
    }
    const std::size_t size = path_.size();
    for (const JsonTree::Member& member : value.members()) {
      if (const Schema* const child = schema.Member(member.key)) {
        path_.append(size == 0 ? "" : ".").append(member.key);
        Check(*child, member.value);
        path_.resize(size);
      }
    }
  }

  std::string path_;
  std::vector<StatusCause>& causes_;
  std::size_t bytes_ = 0;
};

}  // namespace

void CheckLists(const Schema& schema, const JsonTree& value, const std::string& path,
                std::vector<StatusCause>& causes) {
  ListChecker(path, causes).Check(schema, value);
}

}  // namespace kubexx::apiserver::schema::internal
