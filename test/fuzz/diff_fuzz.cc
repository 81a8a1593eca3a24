// Unified diffs that somebody gives to `kubexx-reloader preview`.
#include <string>
#include <string_view>

#include "fuzz.h"
#include "kubexx/reloader/observe/unified_diff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kubexx;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t half = bytes.size() / 2;
  // The first half is the diff, and the other one the file.
  const auto changes = reloader::ParseUnifiedDiff(bytes.substr(0, half));
  if (!changes) {
    return 0;
  }
  fuzz::Require(changes->empty() || reloader::IsUnifiedDiff(bytes.substr(0, half)));
  for (const reloader::FileChange& change : *changes) {
    (void)reloader::FileAfter(change, bytes.substr(half));
  }
  return 0;
}
