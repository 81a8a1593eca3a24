/// @file
/// IsComplete: whether the type of objects is defined where it is used.
#ifndef KUBEXX_INFORMERS_COMPLETE_TYPE_H_
#define KUBEXX_INFORMERS_COMPLETE_TYPE_H_

namespace kubexx::informers {

/// Whether T is defined, and not only declared, where this is first asked for it.
template <class T>
concept IsComplete = requires { sizeof(T); };

/// Refuses a type that is only declared, by one readable error, and returns whether T is defined.
template <class T>
consteval bool CheckComplete() {
  static_assert(IsComplete<T>,
                "kubexx: the type of these objects is declared here, but not defined. Include the "
                "types.gen.h of its group and version, not the resources.gen.h alone.");
  return IsComplete<T>;
}

}  // namespace kubexx::informers

#endif  // KUBEXX_INFORMERS_COMPLETE_TYPE_H_
