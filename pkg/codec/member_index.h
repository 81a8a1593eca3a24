/// @file
/// MemberIndex: finds many members of one object.
#ifndef KUBEXX_CODEC_MEMBER_INDEX_H_
#define KUBEXX_CODEC_MEMBER_INDEX_H_

#include <algorithm>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::codec {

/// Finds members fast in objects of any size, such as the data of a ConfigMap. It is for code that
/// looks for many members of one object, since JsonTree::Find looks at one member after the other.
class MemberIndex {
 public:
  /// `object` may be null. It must outlive the index and must not change.
  explicit MemberIndex(const JsonTree* object) : object_(object) {
    if (object == nullptr || object->size() < kFew) {
      return;
    }
    for (const JsonTree::Member& member : object->members()) {
      sorted_.push_back(&member);
    }
    std::ranges::sort(sorted_, {}, &KeyOf);
  }

  /// Returns the member `key`, or null if there is none.
  const JsonTree* Find(std::string_view key) const {
    if (object_ == nullptr || sorted_.empty()) {
      return object_ == nullptr ? nullptr : object_->Find(key);
    }
    const auto found = std::ranges::lower_bound(sorted_, key, {}, &KeyOf);
    return found != sorted_.end() && (*found)->key == key ? &(*found)->value : nullptr;
  }

 private:
  static constexpr std::size_t kFew = 32;
  static std::string_view KeyOf(const JsonTree::Member* member) { return member->key; }

  const JsonTree* object_;
  std::vector<const JsonTree::Member*> sorted_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_MEMBER_INDEX_H_
