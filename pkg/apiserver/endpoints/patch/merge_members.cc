#include "kubexx/apiserver/endpoints/patch/merge_members.h"

#include <utility>
#include <vector>

#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {

using apimachinery::Result;
using codec::JsonTree;

Result<JsonTree> MergeMembers(JsonTree object, const JsonTree& changes,
                              base::FunctionRef<bool(std::string_view)> skipped,
                              MergeMember merge) {
  const codec::MemberIndex changed(&changes);
  std::vector<const JsonTree::Member*> added;
  {
    const codec::MemberIndex there(&object);
    for (const JsonTree::Member& change : changes.members()) {
      if (!change.value.IsNull() && !skipped(change.key) && there.Find(change.key) == nullptr) {
        added.push_back(&change);
      }
    }
  }
  std::vector<JsonTree::Member> merged;
  merged.reserve(object.size() + added.size());
  for (JsonTree::Member& member : object.members()) {
    const JsonTree* const change = skipped(member.key) ? nullptr : changed.Find(member.key);
    if (change == nullptr) {
      merged.push_back(std::move(member));
    } else if (!change->IsNull()) {
      KX_ASSIGN_OR_RETURN(JsonTree value, merge(member.key, std::move(member.value), *change));
      merged.push_back({.key = std::move(member.key), .value = std::move(value)});
    }
  }
  for (const JsonTree::Member* const change : added) {
    KX_ASSIGN_OR_RETURN(JsonTree value, merge(change->key, JsonTree(), change->value));
    merged.push_back({.key = change->key, .value = std::move(value)});
  }
  return JsonTree::Object(std::move(merged));
}

}  // namespace kubexx::apiserver
