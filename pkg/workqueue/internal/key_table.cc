#include "kubexx/workqueue/internal/key_table.h"

#include <bit>
#include <limits>
#include <utility>

namespace kubexx::workqueue::internal {

KeyTable::KeyTable() { Resize(kMinSlots); }

KeyTable::~KeyTable() {
  for (const Slot& slot : slots_) {
    delete slot.node;
  }
}

Node* KeyTable::FindOrAdd(const Key& key, std::size_t hash) {
  std::size_t at = Home(hash);
  for (; slots_[at].node != nullptr; at = After(at)) {
    if (slots_[at].hash == hash && slots_[at].node->key == key) {
      return slots_[at].node;
    }
  }
  std::unique_ptr<Node> node = TakeSpare();
  node->key = key;
  node->hash = hash;
  if (2 * (size_ + 1) > slots_.size()) {
    Resize(2 * slots_.size());
    for (at = Home(hash); slots_[at].node != nullptr; at = After(at)) {
    }
  }
  ++size_;
  slots_[at] = {hash, node.release()};
  return slots_[at].node;
}

std::vector<const Node*> KeyTable::Nodes() const {
  std::vector<const Node*> nodes;
  for (const Slot& slot : slots_) {
    if (slot.node != nullptr) {
      nodes.push_back(slot.node);
    }
  }
  return nodes;
}

void KeyTable::Erase(Node* node) {
  std::size_t gap = Home(node->hash);
  while (slots_[gap].node != node) {
    gap = After(gap);
  }
  // Moves nodes back that would not be found any more after the gap.
  for (std::size_t at = After(gap); slots_[at].node != nullptr; at = After(at)) {
    const std::size_t mask = slots_.size() - 1;
    const std::size_t from_home = (at - Home(slots_[at].hash)) & mask;
    if (from_home >= ((at - gap) & mask)) {
      slots_[gap] = slots_[at];
      gap = at;
    }
  }
  slots_[gap] = {};
  --size_;
  std::unique_ptr<Node> owned(node);
  owned->settling.reset();
  if (spare_.size() < kMaxSpare) {
    spare_.push_back(std::move(owned));
  }
  if (slots_.size() > kMinSlots && 16 * size_ < slots_.size()) {
    Resize(slots_.size() / 4 < kMinSlots ? kMinSlots : slots_.size() / 4);
  }
}

std::unique_ptr<Node> KeyTable::TakeSpare() {
  if (spare_.empty()) {
    return std::make_unique<Node>();
  }
  std::unique_ptr<Node> node = std::move(spare_.back());
  spare_.pop_back();
  return node;
}

void KeyTable::Resize(std::size_t slots) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  shift_ = std::numeric_limits<std::size_t>::digits - std::countr_zero(slots);
  for (const Slot& slot : before) {
    if (slot.node != nullptr) {
      std::size_t at = Home(slot.hash);
      while (slots_[at].node != nullptr) {
        at = After(at);
      }
      slots_[at] = slot;
    }
  }
}

}  // namespace kubexx::workqueue::internal
