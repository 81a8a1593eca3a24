/// @file
/// --enable-pprof: what a program that is not written in Go can show in its place.
#ifndef KUBEXX_RELOADER_OBSERVE_DIAGNOSTICS_H_
#define KUBEXX_RELOADER_OBSERVE_DIAGNOSTICS_H_

#include <string>

#include "kubexx/http/server.h"

namespace kubexx::reloader {

/// The allocator's own account of the heap, as XML (glibc's malloc_info): sizes only, no content.
std::string HeapReport();
/// One line for each thread of the process: its id, name, state and CPU time in clock ticks.
std::string ThreadReport();

/// Adds /debug/pprof/ (a list), /debug/pprof/heap and /debug/pprof/threads. Go's own formats, which
/// `go tool pprof` reads, are not served.
void ServeDiagnostics(http::Server& server);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_DIAGNOSTICS_H_
