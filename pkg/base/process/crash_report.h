/// @file
/// Writes a report when the process crashes.
#ifndef KUBEXX_BASE_PROCESS_CRASH_REPORT_H_
#define KUBEXX_BASE_PROCESS_CRASH_REPORT_H_

#include <string>

namespace kubexx::base {

/// From now on, when the process has a fault (SIGSEGV, SIGBUS, SIGILL, SIGFPE) or aborts (SIGABRT,
/// also by std::terminate), the signal and the stack of calls are written to standard error, as
/// Go's runtime does it, so that the log of a restarted container shows the place. The signal then
/// ends the process as usual, with a core dump where the system keeps them. The report begins with
/// `program`, which should be the program's name and version.
///
/// Each call is written as a file and an offset, which `addr2line -Cfe FILE OFFSET` turns into a
/// function if the file has its symbols. The file in an image has no symbols, but the same build
/// has them before it is stripped. None of the process's data is written. When a thread has used up
/// its stack, the process ends without a report. Call it once, before there are threads. Under a
/// sanitizer, which writes its own reports, it does nothing.
void ReportCrashes(const std::string& program);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_PROCESS_CRASH_REPORT_H_
