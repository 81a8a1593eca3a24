// Any template on an object, and any object with templates. Evaluating has to end within its
// limits, what is found has to be in the object or in the template, and a template must mean the
// same twice.

#include <string>
#include <string_view>

#include "fuzz.h"
#include "kubexx/codec/json_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx {
namespace {

constexpr std::string_view kObject =
    R"({"metadata":{"name":"a","labels":{"a.b/c":"x","d":""}},"spec":{"replicas":3,"paused":true,)"
    R"("load":1.5,"hosts":["h1","h2"],"ports":[{"name":"p","port":80},{"name":"q","port":81}],)"
    R"("none":null}})";
constexpr std::string_view kTemplates[] = {
    "{..}{..name}", R"({range .spec.ports[*]}{.name}{"\n"}{end})",
    R"({.spec.ports[?(@.port>80)].name}{.spec.hosts[::2]}{.metadata['name','labels']})"};

void Evaluate(std::string_view text, const codec::JsonTree& tree) {
  const auto path = codec::JsonPath::Parse(text);
  if (!path) {
    return;
  }
  const codec::JsonPathOptions options{.max_values = 2000, .max_bytes = 10000};
  const auto printed = path->Print(tree, options);
  const auto again = codec::JsonPath(*path).Print(tree, options);
  fuzz::Require(printed.has_value() == again.has_value() && (!printed || *printed == *again));
  const auto found = path->Find(tree, options);
  fuzz::Require(!found || found->size() <= options.max_values + text.size());
  if (printed) {
    fuzz::Require(found.has_value());
  }
  (void)codec::JsonPath::ParseRelaxed(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kTree = codec::JsonTree::Parse(kObject).value();
  fuzz::Input input(data, size);
  if (input.TakeByte() % 4 != 0) {
    Evaluate(input.rest(), kTree);
    return 0;
  }
  if (const auto tree = codec::JsonTree::Parse(input.rest())) {
    for (const std::string_view text : kTemplates) {
      Evaluate(text, *tree);
    }
  }
  return 0;
}

}  // namespace kubexx
