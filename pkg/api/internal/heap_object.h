/// @file
/// What the generated code of each struct is made of.
#ifndef KUBEXX_API_INTERNAL_HEAP_OBJECT_H_
#define KUBEXX_API_INTERNAL_HEAP_OBJECT_H_

#include <memory>
#include <utility>

namespace kubexx::api {

/// Move assignment by way of the move constructor and the destructor, which exist anyway: member by
/// member, it would be the largest function of a struct, and take as long to compile as all others.
/// `value` may be a part of `object`.
template <class T>
T& Replace(T& object, T&& value) noexcept {
  if (&object != &value) {
    T taken(std::move(value));
    std::destroy_at(&object);
    std::construct_at(&object, std::move(taken));
  }
  return object;
}

/// TypeSchema::create of T.
template <class T>
void* CreateObject() {
  return new T();
}

/// TypeSchema::destroy of T.
template <class T>
void DestroyObject(void* object) {
  delete static_cast<T*>(object);
}

}  // namespace kubexx::api

#endif  // KUBEXX_API_INTERNAL_HEAP_OBJECT_H_
