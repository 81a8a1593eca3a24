#include "kubexx/apiserver/schema/internal/lists.h"

#include <cstddef>
#include <set>
#include <utility>

#include "kubexx/apiserver/schema/cause_list.h"
#include "kubexx/apiserver/schema/causes.h"
#include "kubexx/apiserver/schema/internal/values.h"

namespace kubexx::apiserver::schema::internal {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;

class ListChecker {
 public:
  ListChecker(std::string path, Budget& budget, std::vector<StatusCause>& causes)
      : path_(std::move(path)), budget_(budget), causes_(causes) {}

  void Check(const Schema& schema, const JsonTree& value) {
    budget_.Spend(1);
    if (causes_.full() || budget_.ended()) {
      return;
    }
    if (value.IsArray() && schema.items != nullptr) {
      CheckElements(schema, value);
    } else if (value.IsObject()) {
      CheckMembers(schema, value);
    }
  }

 private:
  void CheckElements(const Schema& schema, const JsonTree& value) {
    const std::size_t size = path_.size();
    std::set<std::string> seen;
    std::size_t index = 0;
    for (const JsonTree& element : value.elements()) {
      if (causes_.full() || budget_.ended()) {
        return;
      }
      path_ += "[" + std::to_string(index++) + "]";
      const bool by_keys = schema.list_type == ListType::kMap;
      if (schema.list_type != ListType::kAtomic &&
          !seen.insert(by_keys ? KeyText(schema, element, budget_) : SortedText(element, budget_))
               .second) {
        causes_.Add(DuplicateCause(path_, by_keys ? KeysOf(schema, element) : element));
      }
      Check(*schema.items, element);
      path_.resize(size);
    }
  }

  void CheckMembers(const Schema& schema, const JsonTree& value) {
    if (schema.embedded_resource) {
      for (const char* const field : {"apiVersion", "kind"}) {
        if (value.TextAt(field).empty()) {
          causes_.Add(RequiredCause(path_ + "." + field));
        }
      }
    }
    budget_.Spend(value.size());
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
  Budget& budget_;
  CauseList causes_;
};

}  // namespace

void CheckLists(const Schema& schema, const JsonTree& value, const std::string& path,
                Budget& budget, std::vector<StatusCause>& causes) {
  ListChecker(path, budget, causes).Check(schema, value);
}

}  // namespace kubexx::apiserver::schema::internal
