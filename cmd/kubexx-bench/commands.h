/// @file
/// What kubexx-bench can measure. Everything goes through the library's public interfaces, as a
/// program of its users would.
#ifndef KUBEXX_CMD_KUBEXX_BENCH_COMMANDS_H_
#define KUBEXX_CMD_KUBEXX_BENCH_COMMANDS_H_

#include <cstdint>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::bench {

/// The command line.
struct Options {
  std::string kubeconfig{};
  std::string context{};
  std::string resource = "pods";
  /// What the handler does with each object: "none", "key", "object" or, in watch, "fields";
  /// "default" is "key" in sync, "object" in watch.
  std::string handler = "default";
  std::string encoding = "protobuf";
  bool watch_list = true;
  bool index = false;
  std::int64_t check = 100;
  std::int64_t reads = 0;
  std::string selector{};
  std::int64_t events = 100'000;
  std::int64_t lead = 1'000;
  std::int64_t operations = 1'000'000;
  std::int64_t threads = 1;
  std::int64_t waiting = 0;
};

/// Fills an informer and prints what it took; then reads from its lister when asked to. Fails when
/// an object that is looked at is not whole.
apimachinery::Result<void> Sync(const Options& options);
/// Fills an informer, then takes updates in a handler that reads the old and the new object.
apimachinery::Result<void> Watch(const Options& options);
/// Fills an informer, then lists the objects that a label selector matches, again and again.
apimachinery::Result<void> Select(const Options& options);
/// Adds keys to a work queue, takes them and is done with them.
apimachinery::Result<void> Queue(const Options& options);

}  // namespace kubexx::bench

#endif  // KUBEXX_CMD_KUBEXX_BENCH_COMMANDS_H_
