// Two lines, an object and a patch, for each kind of patch. What comes out must be a value that can
// be written and read, and not be larger than a patch may make it.

#include <algorithm>
#include <string>

#include "fuzz.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx {
namespace {

using codec::JsonTree;

/// Every operation of a JSON patch may copy, but only so much in all.
constexpr std::size_t kMaxGrowth = 16 << 20;

void CanBeWritten(const JsonTree& result, std::size_t input) {
  const std::string text = result.ToJson();
  fuzz::Require(text.size() <= kMaxGrowth + 6 * input);
  // What nests too deeply to be read is refused when it is stored.
  if (const auto again = JsonTree::Parse(text)) {
    fuzz::Require(*again == result);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), size);
  const auto object = JsonTree::Parse(text.substr(0, line));
  const auto patch = JsonTree::Parse(text.substr(std::min(line + 1, size)));
  if (!object || !patch) {
    return 0;
  }
  if (const auto patched = apiserver::ApplyJsonPatch(*object, *patch)) {
    CanBeWritten(*patched, size);
  }
  const JsonTree merged = apiserver::ApplyMergePatch(*object, *patch);
  CanBeWritten(merged, size);
  fuzz::Require(apiserver::ApplyMergePatch(merged, *patch) == merged);
  for (const codec::TypeSchema* const schema :
       {&codec::SchemaOf<api::core::v1::Pod>(), &codec::SchemaOf<api::core::v1::PodSpec>()}) {
    const auto patched = apiserver::ApplyStrategicMergePatch(
        *object, *patch, apiserver::managedfields::Type::Builtin(*schema));
    if (patched) {
      CanBeWritten(*patched, size);
    }
  }
  return 0;
}

}  // namespace kubexx
