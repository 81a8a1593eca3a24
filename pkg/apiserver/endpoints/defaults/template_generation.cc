#include "kubexx/apiserver/endpoints/defaults/template_generation.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "kubexx/apiserver/endpoints/checks/same_value.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// The number on the object; 0 when there is none, std::nullopt when it is something else.
std::optional<std::int64_t> TemplateGenerationOf(const JsonTree& object) {
  const JsonTree* const annotation = object.At({"metadata", "annotations", kTemplateGeneration});
  const std::string* const text = annotation == nullptr ? nullptr : annotation->AsString();
  if (text == nullptr) {
    return 0;
  }
  std::string_view digits = *text;
  if (digits.starts_with('+') && !digits.starts_with("+-")) {
    digits.remove_prefix(1);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<void> CountDaemonSetTemplates(const JsonTree* current, JsonTree& object) {
  const auto given = TemplateGenerationOf(object);
  if (!given) {
    return Fail(Reason::kBadRequest, "the value of the annotation " +
                                         std::string(kTemplateGeneration) +
                                         " must be a whole number of 64 bits");
  }
  std::int64_t number = std::max<std::int64_t>(*given, 1);
  if (current != nullptr) {
    number = std::max<std::int64_t>(TemplateGenerationOf(*current).value_or(1), 1);
    number +=
        SameMember(current->At({"spec", "template"}), object.At({"spec", "template"})) ? 0 : 1;
  }
  object["metadata"]["annotations"][kTemplateGeneration] = std::to_string(number);
  return {};
}

}  // namespace kubexx::apiserver
