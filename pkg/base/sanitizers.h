/// @file
/// KX_SANITIZED: whether the program runs under a sanitizer, which brings its own signal handlers
/// and allocator.
#ifndef KUBEXX_BASE_SANITIZERS_H_
#define KUBEXX_BASE_SANITIZERS_H_

/// @cond
// GCC shows this by macros, and clang by features.
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
