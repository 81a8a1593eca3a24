/// @file
/// ListSteps: finds the step of a FieldsV1 that names an element of a list.
#ifndef KUBEXX_KUBERNETES_INTERNAL_LIST_STEPS_H_
#define KUBEXX_KUBERNETES_INTERNAL_LIST_STEPS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::kubernetes::internal {

/// The steps below a list in a set of fields. Whoever may write an object decides how many elements
/// and steps it has, so each step is read once, and each element is looked up. Not thread-safe.
class ListSteps {
 public:
  /// What the set has of one element.
  struct Found {
    /// The keys of a "k:" step; null for the others.
    const codec::JsonTree* keys = nullptr;
    /// What is below the step; null for a "v:" step, which names the element as a whole.
    const codec::JsonTree* below = nullptr;
  };

  /// `fields` must outlive it unchanged. kMalformed, which names the step, when one cannot be read,
  /// and when there are more than kMaxKeySets different sets of key names: a list has one set.
  static apimachinery::Result<ListSteps> Of(const codec::JsonTree& fields);

  /// The steps that name this element of the list: of "k:" and "v:" steps at most one each, and the
  /// "i:" step of its index, in this order, in which the API server writes them.
  std::vector<Found> Find(const codec::JsonTree& element, std::size_t index) const;

  static constexpr std::size_t kMaxKeySets = 16;

 private:
  struct Keyed {
    codec::JsonTree keys{};
    const codec::JsonTree* below = nullptr;
  };
  /// "k:" steps by the canonical text of their values, in the order of the names.
  using ByValues = std::map<std::string, Keyed>;

  explicit ListSteps(const codec::JsonTree& fields) : steps_(&fields) {}
  apimachinery::Result<void> Add(const codec::JsonTree::Member& step);

  codec::MemberIndex steps_;
  std::map<std::vector<std::string>, ByValues> keyed_{};
  std::set<std::string> values_{};  ///< canonical texts of "v:" steps
};

}  // namespace kubexx::kubernetes::internal

#endif  // KUBEXX_KUBERNETES_INTERNAL_LIST_STEPS_H_
