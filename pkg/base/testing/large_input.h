/// @file
/// The size of the inputs of tests which show that the time is not quadratic.
#ifndef KUBEXX_BASE_TESTING_LARGE_INPUT_H_
#define KUBEXX_BASE_TESTING_LARGE_INPUT_H_

#include <concepts>

#include "kubexx/base/sanitizers.h"

namespace kubexx::base::testing {

/// Returns `size`, or a tenth of it under a sanitizer, where each step takes some ten times as
/// long. The number of steps does not change what a sanitizer finds, and the other builds show
/// whether the time grows too fast.
template <std::integral Size>
constexpr Size LargeInput(Size size) {
  return KX_SANITIZED != 0 ? size / 10 : size;
}

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_LARGE_INPUT_H_
