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

void CheckLists(const Schema& schema, const JsonTree& value, const std::string& path,
                std::vector<StatusCause>& causes) {
  if (value.IsArray() && schema.items != nullptr) {
    std::set<std::string> seen;
    std::size_t index = 0;
    for (const JsonTree& element : value.elements()) {
      const std::string at = path + "[" + std::to_string(index++) + "]";
      const JsonTree identity =
          schema.list_type == ListType::kMap ? KeysOf(schema, element) : element;
      if (schema.list_type != ListType::kAtomic && causes.size() < kMaxCauses &&
          !seen.insert(SortedText(identity)).second) {
        causes.push_back(DuplicateCause(at, identity));
      }
      CheckLists(*schema.items, element, at, causes);
    }
  } else if (value.IsObject()) {
    if (schema.embedded_resource && causes.size() < kMaxCauses) {
      for (const char* const field : {"apiVersion", "kind"}) {
        if (value.TextAt(field).empty()) {
          causes.push_back(RequiredCause(path + "." + field));
        }
      }
    }
    for (const JsonTree::Member& member : value.members()) {
      if (const Schema* const child = schema.Member(member.key)) {
        CheckLists(*child, member.value, path.empty() ? member.key : path + "." + member.key,
                   causes);
      }
    }
  }
}

}  // namespace kubexx::apiserver::schema::internal
