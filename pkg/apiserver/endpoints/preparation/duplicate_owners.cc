#include "kubexx/apiserver/endpoints/preparation/duplicate_owners.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "kubexx/base/text/join.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// The members of an owner reference in one order, as JSON; "" for one that it does not have.
using OwnerText = std::array<std::string, 6>;

OwnerText TextOfOwner(const JsonTree& owner) {
  constexpr std::array<std::string_view, 6> kMembers = {
      "apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"};
  OwnerText text;
  std::ranges::transform(kMembers, text.begin(), [&owner](std::string_view member) {
    const JsonTree* const value = owner.Find(member);
    return value == nullptr ? std::string() : value->ToJson();
  });
  return text;
}

}  // namespace

void DropDuplicateOwners(OwnersSeen seen, JsonTree& object, std::vector<std::string>& warnings) {
  const JsonTree* const owners = std::as_const(object).At({"metadata", "ownerReferences"});
  if (owners == nullptr || owners->elements().size() < 2) {
    return;
  }
  std::set<OwnerText> kept;
  std::vector<std::string> uids;
  JsonTree distinct = JsonTree::Array();
  for (const JsonTree& owner : owners->elements()) {
    if (kept.insert(TextOfOwner(owner)).second) {
      distinct.Append(owner);
    } else {
      uids.emplace_back(owner.TextAt("uid"));
    }
  }
  if (uids.empty()) {
    return;
  }
  object["metadata"]["ownerReferences"] = std::move(distinct);
  std::string warning =
      std::string(".metadata.ownerReferences contains duplicate entries") +
      (seen == OwnersSeen::kAfterAdmission ? " after mutating admission" : "") +
      "; API server dedups owner references in 1.20+, and may reject such requests as early as "
      "1.24; please fix your requests; duplicate UID(s) observed: " +
      base::Join(uids, ", ");
  if (std::ranges::find(warnings, warning) == warnings.end()) {  // a write may be tried again
    warnings.push_back(std::move(warning));
  }
}

}  // namespace kubexx::apiserver
