/// @file
/// Whether a sanitizer watches the program: it has handlers and an allocator of its own then.
#ifndef KUBEXX_BASE_SANITIZERS_H_
#define KUBEXX_BASE_SANITIZERS_H_

/// @cond
// GCC says so by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KX_SANITIZED 1
#endif
#endif
#ifndef KX_SANITIZED
#define KX_SANITIZED 0
#endif
/// @endcond

#endif  // KUBEXX_BASE_SANITIZERS_H_
