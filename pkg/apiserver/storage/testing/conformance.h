/// @file
/// What every Storage must do, as test cases that each implementation's tests run.
#ifndef KUBEXX_APISERVER_STORAGE_TESTING_CONFORMANCE_H_
#define KUBEXX_APISERVER_STORAGE_TESTING_CONFORMANCE_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::storage::testing {

/// One claim of the contract. `run` uses keys below "/registry/<name>/" only and makes gtest
/// failures; the store may be shared with other cases, one after the other.
struct ConformanceCase {
  std::string name{};
  void (*run)(Storage& storage, const std::string& prefix) = nullptr;

  /// Runs it below its own prefix.
  void Run(Storage& storage) const { run(storage, "/registry/" + name + "/"); }
};
void PrintTo(const ConformanceCase& one, std::ostream* out);

/// All of them: for INSTANTIATE_TEST_SUITE_P with ValuesIn.
std::vector<ConformanceCase> ConformanceCases();
/// The parts they are made of.
std::vector<ConformanceCase> ReadWriteCases();
std::vector<ConformanceCase> WatchCases();

}  // namespace kubexx::apiserver::storage::testing

#endif  // KUBEXX_APISERVER_STORAGE_TESTING_CONFORMANCE_H_
