/// @file
/// --enable-pprof: the diagnostics that a program which is not written in Go can serve instead.
#ifndef KUBEXX_RELOADER_OBSERVE_DIAGNOSTICS_H_
#define KUBEXX_RELOADER_OBSERVE_DIAGNOSTICS_H_

#include <string>

#include "kubexx/http/server.h"

namespace kubexx::reloader {

/// The allocator's statistics of the heap as XML (glibc's malloc_info). Contains only sizes, no
/// content.
std::string HeapReport();
/// One line per thread of the process: its id, name, state and CPU time in clock ticks.
std::string ThreadReport();

/// Adds the pages /debug/pprof/ (a list), /debug/pprof/heap and /debug/pprof/threads to `server`.
/// Go's own formats, which `go tool pprof` reads, are not available.
void ServeDiagnostics(http::Server& server);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_DIAGNOSTICS_H_
