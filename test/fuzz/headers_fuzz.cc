// Any text as a header with the types of a custom resource. The definition of one that is
// understood must be one that kubexx-codegen reads itself, and have the same kinds.

#include <string>
#include <vector>

#include "fuzz.h"
#include "kubexx/crdgen/emit.h"
#include "kubexx/crdgen/header_kinds.h"
#include "kubexx/crdgen/model.h"

namespace kubexx {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input input(data, size);
  const std::vector<crdgen::HeaderText> headers = {
      {.path = "a.h", .include = "a.h", .text = std::string(input.rest())}};
  const auto kinds = crdgen::ReadKinds(headers);
  if (!kinds) {
    fuzz::Require(kinds.error().message.starts_with("a.h:"));
    return 0;
  }
  fuzz::Require(kinds->size() == 1 && kinds->at(0).versions.size() == 1);
  const crdgen::HeaderVersion& version = kinds->at(0).versions[0];
  fuzz::Require(!crdgen::HeaderOf(version.version, version.namespace_).empty());
  fuzz::Require(!crdgen::SourceOf(version.version, version.namespace_).empty());
  const auto read = crdgen::ReadDefinitions(kinds->at(0).definition);
  fuzz::Require(read.has_value() && read->size() == 1);
  fuzz::Require(read->at(0).What() == version.version.What());
  return 0;
}

}  // namespace kubexx
