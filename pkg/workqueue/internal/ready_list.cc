#include "kubexx/workqueue/internal/ready_list.h"

#include <functional>
#include <iterator>
#include <map>

namespace kubexx::workqueue::internal {
namespace {

class ArrivalList final : public ReadyList {
 private:
  void DoPush(Node* node) override { nodes_.PushBack(node); }
  Node* DoPop() override { return nodes_.empty() ? nullptr : nodes_.PopFront(); }

  NodeList nodes_;
};

class PriorityList final : public ReadyList {
 public:
  void Raise(Node* node, int priority) override {
    classes_[node->priority].Remove(node);
    node->priority = priority;
    classes_[priority].PushBack(node);
  }

 private:
  // Empty classes stay for their next key, unless there are more of them than this.
  static constexpr std::size_t kMaxEmptyClasses = 16;

  void DoPush(Node* node) override { classes_[node->priority].PushBack(node); }

  Node* DoPop() override {
    for (auto at = classes_.begin(); at != classes_.end();) {
      if (!at->second.empty()) {
        return at->second.PopFront();
      }
      at = classes_.size() > kMaxEmptyClasses ? classes_.erase(at) : std::next(at);
    }
    return nullptr;
  }

  std::map<int, NodeList, std::greater<>> classes_;
};

}  // namespace

std::unique_ptr<ReadyList> NewArrivalList() { return std::make_unique<ArrivalList>(); }
std::unique_ptr<ReadyList> NewPriorityList() { return std::make_unique<PriorityList>(); }

}  // namespace kubexx::workqueue::internal
