/// @file
/// What a run leaves out.
#ifndef KUBEXX_TEST_SIMULATION_WITHOUT_H_
#define KUBEXX_TEST_SIMULATION_WITHOUT_H_

#include <cstdint>

namespace kubexx::simulation {

/// Kinds of things that do not happen in a run though the seed asks for them; a bit for each. So a
/// run that fails can be told by what it needs to.
struct Without {
  std::uint64_t faults = 0;   ///< by Fault
  std::uint64_t mishaps = 0;  ///< by Mishap
  std::uint64_t acts = 0;     ///< by Act
  std::uint64_t storms = 0;   ///< by their number; the 64th and later ones always happen
};

/// Whether the bit `index` is set; also for the enumerators of an enum.
template <class Index>
constexpr bool IsIn(std::uint64_t bits, Index index) {
  const auto place = static_cast<std::uint64_t>(index);
  return place < 64 && (bits >> place & 1U) != 0;
}

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_WITHOUT_H_
