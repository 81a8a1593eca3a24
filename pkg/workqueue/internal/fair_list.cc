#include "kubexx/workqueue/internal/fair_list.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kubexx/base/keyed_hash.h"

namespace kubexx::workqueue::internal {

struct Tenant {
  explicit Tenant(int weight_in) : weight(weight_in) {}

  const int weight;
  std::string_view name{};
  std::size_t nodes = 0;  ///< of its keys in any state
  NodeList keys{};        ///< that wait
  int working = 0;
  int left = 0;  ///< keys until its turn ends
  bool in_round = false;
  Tenant* next = nullptr;  ///< in the round
};

namespace {

class FairList final : public ReadyList {
 public:
  explicit FairList(const FairOptions& options)
      : weights_(options.weights), max_working_(options.max_working_per_tenant) {}

  void Attach(Node* node, const std::string& tenant) override {
    node->tenant = Find(tenant);
    ++node->tenant->nodes;
  }

  void Detach(Node* node) override {
    Tenant* const tenant = std::exchange(node->tenant, nullptr);
    if (--tenant->nodes == 0) {
      tenants_.erase(tenants_.find(tenant->name));
    }
  }

  bool Finished(Node* node) override {
    Tenant* const tenant = node->tenant;
    --tenant->working;
    Join(tenant);
    // True even if it was in the round, because each end leaves room for one more key.
    return MayJoin(tenant);
  }

 private:
  Tenant* Find(const std::string& name) {
    const auto found = tenants_.find(name);
    if (found != tenants_.end()) {
      return &found->second;
    }
    const auto weight = weights_.find(name);
    const auto added =
        tenants_.try_emplace(name, weight == weights_.end() ? 1 : std::max(weight->second, 1))
            .first;
    added->second.name = added->first;
    return &added->second;
  }

  void DoPush(Node* node) override {
    node->tenant->keys.PushBack(node);
    Join(node->tenant);
  }

  Node* DoPop() override {
    Tenant* const tenant = first_;
    if (tenant == nullptr) {
      return nullptr;
    }
    Node* const node = tenant->keys.PopFront();
    ++tenant->working;
    --tenant->left;
    if (tenant->left == 0 || !MayJoin(tenant)) {
      Leave();
      Join(tenant);
    }
    return node;
  }

  bool MayJoin(const Tenant* tenant) const {
    return !tenant->keys.empty() && (max_working_ <= 0 || tenant->working < max_working_);
  }

  /// Puts a tenant at the end of the round, if it is not in the round and may join it.
  bool Join(Tenant* tenant) {
    if (tenant->in_round || !MayJoin(tenant)) {
      return false;
    }
    tenant->in_round = true;
    tenant->left = tenant->weight;
    tenant->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = tenant;
    last_ = tenant;
    return true;
  }

  /// Removes the first tenant of the round.
  void Leave() {
    first_->in_round = false;
    first_ = first_->next;
    last_ = first_ == nullptr ? nullptr : last_;
  }

  const std::map<std::string, int> weights_;
  const int max_working_;
  /// The hash is keyed, because the names of tenants come from outside, as those of namespaces do.
  std::unordered_map<std::string, Tenant, base::KeyedTextHash, std::equal_to<>> tenants_;
  Tenant* first_ = nullptr;
  Tenant* last_ = nullptr;
};

}  // namespace

std::unique_ptr<ReadyList> NewFairList(const FairOptions& options) {
  return std::make_unique<FairList>(options);
}

}  // namespace kubexx::workqueue::internal
