/// @file
/// Box: an optional value on the heap, for fields that are pointers to structs in Go.
#ifndef KUBEXX_APIMACHINERY_BOX_H_
#define KUBEXX_APIMACHINERY_BOX_H_

#include <memory>
#include <utility>

namespace kubexx::apimachinery {

/// Holds a T or nothing, in one pointer. A value type: copying it copies the T, comparing it
/// compares the T. T may be incomplete where a Box<T> is declared. Not thread-safe.
template <class T>
class Box {
 public:
  Box() noexcept : value_(nullptr) {}
  Box(std::nullptr_t) noexcept : value_(nullptr) {}           // NOLINT(google-explicit-constructor)
  Box(const T& value) : value_(new T(value)) {}               // NOLINT(google-explicit-constructor)
  Box(T&& value) : value_(new T(static_cast<T&&>(value))) {}  // NOLINT(google-explicit-constructor)
  Box(const Box& other) : value_(other.value_ != nullptr ? new T(*other.value_) : nullptr) {}
  Box(Box&& other) noexcept : value_(other.release()) {}
  Box& operator=(const Box& other) {
    if (this != &other) {
      replace(other.value_ != nullptr ? new T(*other.value_) : nullptr);
    }
    return *this;
  }
  Box& operator=(Box&& other) noexcept {
    replace(other.release());
    return *this;
  }
  ~Box() { delete value_; }

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_; }
  const T* operator->() const { return value_; }
  T* get() { return value_; }
  const T* get() const { return value_; }

  /// Replaces the content with a value-initialised T and returns that.
  T& emplace() {
    replace(new T());
    return *value_;
  }
  /// Returns the T, which is made if there is none.
  T& get_or_emplace() { return value_ != nullptr ? *value_ : emplace(); }
  void reset() { replace(nullptr); }

  friend bool operator==(const Box& a, const Box& b) {
    return a.value_ != nullptr && b.value_ != nullptr ? *a.value_ == *b.value_
                                                      : a.value_ == b.value_;
  }

 private:
  T* release() {
    T* const value = value_;
    value_ = nullptr;
    return value;
  }
  void replace(T* value) {
    T* const old = value_;
    value_ = value;
    delete old;
  }

  T* value_;  // not a unique_ptr, which costs the compiler 12 ms for each T; owned
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_BOX_H_
