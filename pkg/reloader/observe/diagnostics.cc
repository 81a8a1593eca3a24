#include "kubexx/reloader/observe/diagnostics.h"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>
#include <vector>

namespace kubexx::reloader {

std::string HeapReport() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  if (stream == nullptr) {
    return "no memory for a report\n";
  }
  (void)malloc_info(0, stream);
  (void)std::fclose(stream);
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  return {text, size};
}

std::string ThreadReport() {
  std::string report;
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc/self/task", error), end;
       !error && each != end; each.increment(error)) {
    std::ifstream file(each->path() / "stat");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    // The format of proc(5) is "id (name) state ...", and the name may contain blanks and
    // parentheses.
    const std::size_t open = line.find('(');
    const std::size_t close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) {
      continue;  // the thread has ended meanwhile
    }
    std::istringstream rest(line.substr(close + 1));
    const std::vector<std::string> fields((std::istream_iterator<std::string>(rest)), {});
    if (fields.size() > 12) {
      report += each->path().filename().string() + " " + line.substr(open + 1, close - open - 1) +
                " " + fields[0] + " user=" + fields[11] + " system=" + fields[12] + "\n";
    }
  }
  return report;
}

void ServeDiagnostics(http::Server& server) {
  server.Handle("/debug/pprof/", [](const http::Request&) {
    return http::Response{.body = "/debug/pprof/heap\n/debug/pprof/threads\n"};
  });
  server.Handle("/debug/pprof/heap", [](const http::Request&) {
    return http::Response{.content_type = "application/xml", .body = HeapReport()};
  });
  server.Handle("/debug/pprof/threads",
                [](const http::Request&) { return http::Response{.body = ThreadReport()}; });
}

}  // namespace kubexx::reloader
