#include "kubexx/apiserver/endpoints/checks/label_problems.h"

#include <algorithm>
#include <cstddef>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxNameBytes = 63;
constexpr std::size_t kMaxPrefixBytes = 253;
constexpr std::size_t kMaxAnnotationBytes = 256 << 10;
constexpr const char* kWord =
    "has to be of letters, digits, '-', '_' and '.', with a letter or digit at both ends";

/// Whether `text` is a valid name, apart from its length.
bool IsWord(std::string_view text) {
  return !text.empty() && base::IsAlphanumeric(text.front()) && base::IsAlphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) {
           return base::IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

std::string TooManyBytes(std::size_t bytes) {
  return "must be no more than " + std::to_string(bytes) + " bytes";
}

void AddPrefixProblems(std::string_view prefix, std::vector<std::string>& problems) {
  if (prefix.empty()) {
    problems.emplace_back("prefix part must be non-empty");
  } else if (prefix.size() > kMaxPrefixBytes) {
    problems.push_back("prefix part " + TooManyBytes(kMaxPrefixBytes));
  } else if (!apimachinery::IsDnsSubdomain(prefix)) {
    problems.emplace_back(
        "prefix part has to be a DNS subdomain: of small letters, digits, '-' and '.', with a "
        "letter or digit at both ends of what is between dots");
  }
}

}  // namespace

std::vector<std::string> LabelKeyProblems(std::string_view text) {
  std::vector<std::string> problems;
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"has to be a name after at most one '/' and a DNS subdomain before that"};
    }
    AddPrefixProblems(text.substr(0, slash), problems);
  }
  if (name.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (name.size() > kMaxNameBytes) {
    problems.push_back("name part " + TooManyBytes(kMaxNameBytes));
  }
  if (!IsWord(name)) {
    problems.push_back(std::string("name part ") + kWord);
  }
  return problems;
}

std::vector<std::string> LabelValueProblems(std::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > kMaxNameBytes) {
    problems.push_back(TooManyBytes(kMaxNameBytes));
  }
  if (!text.empty() && !IsWord(text)) {
    problems.push_back(std::string(kWord) + ", or empty");
  }
  return problems;
}

void CheckLabelKey(std::string_view key, const std::string& field, FieldCauses& causes) {
  for (const std::string& problem : LabelKeyProblems(key)) {
    causes.Invalid(field, JsonTree(key).ToJson(), problem);
  }
}

void CheckLabelValue(std::string_view value, const std::string& field, FieldCauses& causes) {
  for (const std::string& problem : LabelValueProblems(value)) {
    causes.Invalid(field, JsonTree(value).ToJson(), problem);
  }
}

void CheckLabelMap(const JsonTree* labels, const std::string& field, FieldCauses& causes) {
  for (const auto& [key, value] : LabelMapOf(labels)) {
    CheckLabelKey(key, field, causes);
    CheckLabelValue(value, field, causes);
  }
}

void CheckAnnotationMap(const JsonTree* annotations, const std::string& field,
                        FieldCauses& causes) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : LabelMapOf(annotations)) {
    bytes += key.size() + value.size();
    for (const std::string& problem : LabelKeyProblems(base::ToLower(key))) {
      causes.Invalid(field, JsonTree(key).ToJson(), problem);
    }
  }
  if (bytes > kMaxAnnotationBytes) {
    causes.TooLong(field, kMaxAnnotationBytes);
  }
}

}  // namespace kubexx::apiserver
