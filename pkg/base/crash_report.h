/// @file
/// What a process leaves behind that crashes.
#ifndef KUBEXX_BASE_CRASH_REPORT_H_
#define KUBEXX_BASE_CRASH_REPORT_H_

#include <string>

namespace kubexx::base {

/// From now on a fault of the process (SIGSEGV, SIGBUS, SIGILL, SIGFPE) or an abort (SIGABRT, also
/// by std::terminate) writes the signal and the calls that led to it to standard error, as Go's
/// runtime does, so that the log of a container that was restarted tells where. The signal then
/// ends the process as it would have, with a core dump where the system keeps them. `program`, its
/// name and version, begins the report.
///
/// Each call is written as a file with an offset in it, which `addr2line -Cfe FILE OFFSET` turns
/// into a function if the file has its symbols. The file in an image has none; the same build
/// before it was stripped has them. Nothing of the process's data is written. A thread that has
/// used up its stack ends the process without a report. Call it once, before there are threads.
/// Under a sanitizer, which reports by itself, it does nothing.
void ReportCrashes(const std::string& program);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_CRASH_REPORT_H_
