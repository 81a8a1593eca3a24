/// @file
/// Finds out what a run that fails needs to.
#ifndef KUBEXX_TEST_SIMULATION_SHRINK_H_
#define KUBEXX_TEST_SIMULATION_SHRINK_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "without.h"
#include "world.h"

namespace kubexx::simulation {

/// What is to be left out, from names with commas between them: those of faults, mishaps and acts,
/// and "storm 0" for the first storm. kInvalidConfig for another name.
apimachinery::Result<Without> ParseWithout(std::string_view names);
/// As ParseWithout reads it.
std::string ToString(const Without& without);

/// A run of the seed of `failing` that has a problem, too, and leaves out what it can: each storm,
/// mishap, fault and act is taken away once, and stays away when there is a problem all the same.
/// Some forty runs of up to `seconds` of real time each; a line on standard output for each that is
/// not needed.
RunOptions Shrink(RunOptions failing, int seconds);

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_SHRINK_H_
