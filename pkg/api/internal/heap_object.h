/// @file
/// Creation and destruction of an object whose type is known at run time only, for the generated
/// tables.
#ifndef KUBEXX_API_INTERNAL_HEAP_OBJECT_H_
#define KUBEXX_API_INTERNAL_HEAP_OBJECT_H_

namespace kubexx::api {

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
