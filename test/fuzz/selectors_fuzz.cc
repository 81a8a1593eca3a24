// Any line as a label selector and a field selector of any built-in type. The canonical text of a
// label selector must mean the same; both must be able to look at an object.

#include <string>

#include "fuzz.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apiserver/object/selection.h"
#include "kubexx/apiserver/resources/builtin_types.h"

namespace kubexx {
namespace {

void Labels(std::string_view text, const apimachinery::LabelMap& labels) {
  const auto selector = apimachinery::LabelSelector::Parse(text);
  if (!selector) {
    return;
  }
  const auto again = apimachinery::LabelSelector::Parse(selector->ToString());
  fuzz::Require(again.has_value() && again->ToString() == selector->ToString());
  fuzz::Require(selector->Matches(labels) == again->Matches(labels));
  fuzz::Require(!selector->empty() || selector->Matches(labels));
}

void Fields(std::string_view text, const apiserver::ResourceType& type,
            const apiserver::Attributes& attributes) {
  const auto selector = apiserver::FieldSelector::Parse(text, type);
  if (!selector) {
    return;
  }
  const std::string name = selector->Exactly("metadata.name");
  const bool matches = selector->Matches({.namespace_ = "n", .name = name}, attributes);
  fuzz::Require(!selector->empty() || matches);
  if (matches && !name.empty()) {
    // Only the object of that name can match.
    fuzz::Require(!selector->Matches({.namespace_ = "n", .name = name + "x"}, attributes));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kTypes = apiserver::BuiltinTypes();
  fuzz::Input input(data, size);
  const apiserver::ResourceType& type = *kTypes[input.TakeByte() % kTypes.size()];
  apiserver::Attributes attributes;
  attributes.labels = {{"app", "web"}, {"n", "5"}, {"example.com/tier", ""}};
  attributes.fields = {{"status.phase", "Running"}, {"spec.nodeName", "a"}};
  Labels(input.rest(), attributes.labels);
  Fields(input.rest(), type, attributes);
  return 0;
}

}  // namespace kubexx
