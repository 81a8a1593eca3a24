#include "kubexx/reloader/operator/selector.h"

#include <string_view>

#include "kubexx/apimachinery/labels.h"

namespace kubexx::reloader {
namespace {

std::string Requirement(std::string_view element) {
  if (const std::size_t colon = element.find(':'); colon != std::string_view::npos) {
    const std::string key(element.substr(0, colon));
    std::string_view value = element.substr(colon + 1);
    value = value.substr(0, value.find(':'));
    return value == "*" ? key : key + "=" + std::string(value);
  }
  const std::size_t equals = element.find('=');
  if (equals != std::string_view::npos) {
    std::string_view value = element.substr(equals + 1);
    value = value.substr(0, value.find('='));
    if (value == "*") {
      return std::string(element.substr(0, equals));
    }
  }
  return std::string(element);
}

/// The parts of an element that came in quotes with its commas, as the chart writes it; a list of
/// values in brackets stays together.
std::vector<std::string_view> PartsOf(std::string_view element) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < element.size(); ++i) {
    depth += element[i] == '(' ? 1 : element[i] == ')' ? -1 : 0;
    if (element[i] == ',' && depth == 0) {
      parts.push_back(element.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(element.substr(begin));
  return parts;
}

}  // namespace

apimachinery::Result<std::string> LabelSelectorOf(const std::vector<std::string>& elements) {
  std::string text;
  for (const std::string& element : elements) {
    for (const std::string_view part : PartsOf(element)) {
      text += (text.empty() ? "" : ",") + Requirement(part);
    }
  }
  const auto selector = apimachinery::LabelSelector::Parse(text);
  if (!selector) {
    return apimachinery::Fail(apimachinery::Reason::kInvalidConfig, selector.error().message);
  }
  return selector->ToString();
}

}  // namespace kubexx::reloader
