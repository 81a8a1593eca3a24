// kubexx-bench: measures the library: filling an informer, lists of it, watching, the work queue.

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "commands.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using apimachinery::Result;

constexpr int kUsage = 2;

constexpr const char* kDescription =
    R"(Measures the client library and prints one JSON line.

  sync   starts a shared informer, waits until its store and its handler have every object, and tells the
         time, the processor time, the resident memory and its peak since the process started
  select the same as sync without a handler, then lists what --selector matches from the cache, --reads times, and
         tells the median of their times, and that of the first one, which makes the index
  watch  the same as sync, then takes updates in a typed handler that reads the old and the new object, and tells
         how many there were a second, and a second of processor time
  queue  adds keys to a work queue, takes them and is done with them; no server needed

Examples:
  kubexx-bench sync --kubeconfig ~/.kube/config --resource pods
  kubexx-bench sync --reads 100000 --index
  kubexx-bench select --selector app=web --reads 1000
  kubexx-bench watch --events 100000
  kubexx-bench queue --threads 8

hack/bench runs it next to the same programs with client-go and kube-rs, and compares.

Exit codes: 0 measured, 1 the server could not be read or an object was not whole, 2 wrong usage.)";

void AddFlags(flags::FlagSet& set, bench::Options& options) {
  set.AddString("kubeconfig", "How to reach the server; default $KUBECONFIG, then ~/.kube/config",
                &options.kubeconfig);
  set.AddString("context", "Context of the kubeconfig", &options.context);
  set.AddChoice("resource", "What to list and watch", {"pods", "configmaps", "secrets"},
                &options.resource);
  set.AddChoice(
      "handler",
      "What the handler does with each object: take its key (the default of sync), or read "
      "the object, in watch the old one, too (the default of watch), or, in watch, read four "
      "fields of both objects without decoding them; without a handler sync only fills the store",
      {"default", "none", "key", "object", "fields"}, &options.handler);
  set.AddChoice("encoding", "What to ask the server for", {"protobuf", "json"}, &options.encoding);
  set.AddBool("watch-list", "Get the initial state as a stream of events instead of a list",
              &options.watch_list);
  set.AddBool("index", "sync: keep an index, by the end of the name, and measure reads of it",
              &options.index);
  set.AddInt("check", "sync: objects to decode afterwards, to see that they are whole",
             &options.check);
  set.AddInt("reads", "sync, select: reads of the lister to measure afterwards", &options.reads);
  set.AddString("selector", "select: the label selector", &options.selector);
  set.AddInt("events", "watch: updates to measure", &options.events);
  set.AddInt("lead", "watch: updates before the measurement begins", &options.lead);
  set.AddInt("operations", "queue: keys to add, over all threads", &options.operations);
  set.AddInt("threads", "queue: threads at the same time", &options.threads);
  set.AddInt("waiting", "queue: keys that wait from the beginning", &options.waiting);
}

bool IsPossible(const bench::Options& options) {
  return options.check >= 0 && options.reads >= 0 && options.events > 0 && options.lead > 0 &&
         options.threads > 0 && options.operations >= options.threads && options.waiting >= 0;
}

int Main(int argc, const char* const* argv) {
  bench::Options options;
  std::vector<std::string> arguments;
  flags::FlagSet flags("kubexx-bench", kDescription, KUBEXX_VERSION);
  flags.AllowArguments("sync|select|watch|queue", &arguments);
  AddFlags(flags, options);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv, kUsage)) {
    return *exit_code;
  }
  const std::string command = arguments.size() == 1 ? arguments.front() : std::string();
  const auto run = command == "sync"     ? bench::Sync
                   : command == "select" ? bench::Select
                   : command == "watch"  ? bench::Watch
                   : command == "queue"  ? bench::Queue
                                         : nullptr;
  if (command == "watch" && options.handler == "none") {
    std::cerr << "kubexx-bench: watch needs a handler (--help tells more)\n";
    return kUsage;
  }
  if (command != "watch" && options.handler == "fields") {
    std::cerr << "kubexx-bench: only watch has the handler \"fields\" (--help tells more)\n";
    return kUsage;
  }
  if (command == "select" && options.reads == 0) {
    std::cerr << "kubexx-bench: select needs --reads (--help tells more)\n";
    return kUsage;
  }
  if (run == nullptr || !IsPossible(options)) {
    std::cerr << (run == nullptr ? "kubexx-bench: name one of sync, select, watch and queue"
                                 : "kubexx-bench: a number is too small")
              << " (--help tells more)\n";
    return kUsage;
  }
  logging::Init({.level = logging::Level::kWarning});
  if (const Result<void> done = run(options); !done) {
    std::cerr << "kubexx-bench: " << done.error().ToString() << "\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory or of threads
    std::cerr << "kubexx-bench: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
