/// @file
/// How large the inputs of tests are that show that the time is not the square of them.
#ifndef KUBEXX_BASE_TESTING_LARGE_INPUT_H_
#define KUBEXX_BASE_TESTING_LARGE_INPUT_H_

#include <concepts>

#include "kubexx/base/sanitizers.h"

namespace kubexx::base::testing {

/// `size`, or a tenth of it under a sanitizer. Each step takes some ten times as long there, and
/// what a sanitizer finds does not depend on the number of steps: whether time grows too fast is
/// for the other builds to show.
template <std::integral Size>
constexpr Size LargeInput(Size size) {
  return KX_SANITIZED != 0 ? size / 10 : size;
}

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_LARGE_INPUT_H_
