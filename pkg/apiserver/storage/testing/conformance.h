/// @file
/// The contract of Storage as test cases, which the tests of each implementation run.
#ifndef KUBEXX_APISERVER_STORAGE_TESTING_CONFORMANCE_H_
#define KUBEXX_APISERVER_STORAGE_TESTING_CONFORMANCE_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::storage::testing {

/// One claim of the contract. `run` uses only keys below "/registry/<name>/" and reports failures
/// to gtest. Several cases may use the same store, one after the other.
struct ConformanceCase {
  std::string name{};
  void (*run)(Storage& storage, const std::string& prefix) = nullptr;

  /// Runs the case below its own prefix.
  void Run(Storage& storage) const { run(storage, "/registry/" + name + "/"); }
};
void PrintTo(const ConformanceCase& one, std::ostream* out);

/// All cases, for INSTANTIATE_TEST_SUITE_P with ValuesIn.
std::vector<ConformanceCase> ConformanceCases();
/// The cases of reads and writes, which are part of ConformanceCases. WatchCases are the others.
std::vector<ConformanceCase> ReadWriteCases();
std::vector<ConformanceCase> WatchCases();

}  // namespace kubexx::apiserver::storage::testing

#endif  // KUBEXX_APISERVER_STORAGE_TESTING_CONFORMANCE_H_
