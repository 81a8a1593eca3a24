/// @file
/// An optional value on the heap, for Go's pointers to structs.
#ifndef KUBEXX_APIMACHINERY_BOX_H_
#define KUBEXX_APIMACHINERY_BOX_H_

#include <memory>
#include <utility>

namespace kubexx::apimachinery {

/// Holds a T or nothing, in one pointer. A value: copying copies the T, comparing compares it. T
/// may be incomplete where a Box<T> is declared. Not thread-safe.
template <class T>
class Box {
 public:
  Box() = default;
  Box(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  Box(T value)
      : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Box(const Box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) {
    if (this != &other) {
      value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    }
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;
  ~Box() = default;

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T* get() { return value_.get(); }
  const T* get() const { return value_.get(); }

  /// Puts a value-initialised T in place of what was there and returns it.
  T& emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }
  /// The T that is there, or a new one.
  T& get_or_emplace() { return value_ ? *value_ : emplace(); }
  void reset() { value_.reset(); }

  friend bool operator==(const Box& a, const Box& b) {
    return a.value_ && b.value_ ? *a.value_ == *b.value_ : a.value_ == b.value_;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_BOX_H_
