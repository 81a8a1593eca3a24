/// @file
/// FunctionRef: a view of a callable, for parameters that are called but not kept.
#ifndef KUBEXX_BASE_FUNCTION_REF_H_
#define KUBEXX_BASE_FUNCTION_REF_H_

#include <memory>
#include <type_traits>
#include <utility>

namespace kubexx::base {

template <class Signature>
class FunctionRef;

/// Refers to a callable without owning it. Valid as long as the callable exists. Cheap to copy.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_invocable_r_v<R, F&, Args...>)
  // NOLINTNEXTLINE(google-explicit-constructor): implicit by purpose, as a parameter type.
  FunctionRef(F&& callable) noexcept
      : object_(AddressOf(callable)), call_(&Call<std::remove_reference_t<F>>) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  template <class F>
  static void* AddressOf(F& callable) noexcept {
    if constexpr (std::is_function_v<F>) {
      return reinterpret_cast<void*>(&callable);
    } else {
      return const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
    }
  }

  template <class F>
  static R Call(void* object, Args... args) {
    if constexpr (std::is_function_v<F>) {
      return Invoke(*reinterpret_cast<F*>(object), std::forward<Args>(args)...);
    } else {
      return Invoke(*static_cast<F*>(object), std::forward<Args>(args)...);
    }
  }

  template <class F>
  static R Invoke(F& callable, Args... args) {
    if constexpr (std::is_void_v<R>) {
      callable(std::forward<Args>(args)...);
    } else {
      return callable(std::forward<Args>(args)...);
    }
  }

  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_FUNCTION_REF_H_
