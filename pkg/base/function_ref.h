/// @file
/// A view of a callable, for parameters that are called but not kept.
#ifndef KUBEXX_BASE_FUNCTION_REF_H_
#define KUBEXX_BASE_FUNCTION_REF_H_

#include <memory>
#include <type_traits>
#include <utility>

namespace kubexx::base {

template <class Signature>
class FunctionRef;

/// Refers to a callable without owning it; valid as long as the callable is. Cheap to copy.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Args...>)
  // NOLINTNEXTLINE(google-explicit-constructor): implicit by purpose, as a parameter type.
  FunctionRef(F&& callable) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_FUNCTION_REF_H_
