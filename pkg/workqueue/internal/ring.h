/// @file
/// A first-in first-out buffer in one block of memory.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_RING_H_
#define KUBEXX_WORKQUEUE_INTERNAL_RING_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace kubexx::workqueue::internal {

/// Holds small trivially copyable values. Allocates only when it doubles; halves when it is mostly
/// empty. Not thread-safe.
template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void Push(T value) {
    if (size_ == slots_.size()) {
      Resize(slots_.empty() ? kMinSlots : slots_.size() * 2);
    }
    slots_[(head_ + size_) & (slots_.size() - 1)] = value;
    ++size_;
  }

  /// Removes the oldest value; there must be one.
  T Pop() {
    const T value = slots_[head_];
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
    if (slots_.size() > kMinSlots && size_ < slots_.size() / 8) {
      Resize(slots_.size() / 2);
    }
    return value;
  }

 private:
  static constexpr std::size_t kMinSlots = 64;  // Sizes are powers of two.

  void Resize(std::size_t slots) {
    std::vector<T> moved(slots);
    for (std::size_t i = 0; i < size_; ++i) {
      moved[i] = slots_[(head_ + i) & (slots_.size() - 1)];
    }
    slots_ = std::move(moved);
    head_ = 0;
  }

  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_RING_H_
