/// @file
/// Finding many members of one object.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_INTERNAL_MEMBER_INDEX_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_INTERNAL_MEMBER_INDEX_H_

#include <algorithm>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields::internal {

/// Makes Find fast for objects of any size, a ConfigMap's data for example.
class MemberIndex {
 public:
  /// `object` may be null and must outlive it unchanged.
  explicit MemberIndex(const codec::JsonTree* object) : object_(object) {
    if (object == nullptr || object->size() < kFew) {
      return;
    }
    for (const codec::JsonTree::Member& member : object->members()) {
      sorted_.push_back(&member);
    }
    std::ranges::sort(sorted_, {}, &KeyOf);
  }

  /// Null when there is none.
  const codec::JsonTree* Find(std::string_view key) const {
    if (object_ == nullptr || sorted_.empty()) {
      return object_ == nullptr ? nullptr : object_->Find(key);
    }
    const auto found = std::ranges::lower_bound(sorted_, key, {}, &KeyOf);
    return found != sorted_.end() && (*found)->key == key ? &(*found)->value : nullptr;
  }

 private:
  static constexpr std::size_t kFew = 32;
  static std::string_view KeyOf(const codec::JsonTree::Member* member) { return member->key; }

  const codec::JsonTree* object_;
  std::vector<const codec::JsonTree::Member*> sorted_;
};

}  // namespace kubexx::apiserver::managedfields::internal

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_INTERNAL_MEMBER_INDEX_H_
