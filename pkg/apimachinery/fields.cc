#include "kubexx/apimachinery/fields.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kubexx::apimachinery {
namespace {

constexpr std::string_view kEscapedInFields = ",=\\";

// The value of a term, where a backslash has to stand before ',', '=' and itself, and before
// nothing else.
Result<std::string> UnescapedField(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (i + 1 == text.size() || kEscapedInFields.find(text[i + 1]) == std::string_view::npos) {
        return Fail(Reason::kBadRequest, "invalid field selector: invalid escape sequence: " +
                                             std::string(text.substr(i, 2)));
      }
      ++i;
    } else if (kEscapedInFields.find(text[i]) != std::string_view::npos) {
      return Fail(Reason::kBadRequest,
                  std::string("invalid field selector: unescaped character in value: ") + text[i]);
    }
    value.push_back(text[i]);
  }
  return value;
}

// The parts between the commas that have no backslash before them.
std::vector<std::string_view> SplitFieldTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i + 1 < text.size() && text[i] == '\\') {
      ++i;
    } else if (i == text.size() || text[i] == ',') {
      terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return terms;
}

Result<FieldRequirement> ParseFieldTerm(std::string_view term) {
  const std::size_t at = term.find('=');
  if (at == std::string_view::npos || at == 0) {
    return Fail(Reason::kBadRequest,
                "unable to parse field selector: \"" + std::string(term) + "\" has no '='");
  }
  FieldRequirement out;
  out.equal = term[at - 1] != '!';
  out.field = std::string(term.substr(0, out.equal ? at : at - 1));
  const bool doubled = out.equal && at + 1 < term.size() && term[at + 1] == '=';
  KX_ASSIGN_OR_RETURN(out.value, UnescapedField(term.substr(at + (doubled ? 2 : 1))));
  return out;
}

}  // namespace

std::string FieldRequirement::ToString() const {
  std::string out = field + (equal ? "=" : "!=");
  for (const char c : value) {
    if (kEscapedInFields.find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  for (const std::string_view term : SplitFieldTerms(text)) {
    if (!term.empty()) {
      KX_ASSIGN_OR_RETURN(FieldRequirement requirement, ParseFieldTerm(term));
      selector.requirements_.push_back(std::move(requirement));
    }
  }
  return selector;
}

FieldSelector FieldSelector::FromMap(const std::map<std::string, std::string>& fields) {
  FieldSelector selector;
  for (const auto& [field, value] : fields) {
    selector.requirements_.push_back({.field = field, .value = value});
  }
  return selector;
}

std::string FieldSelector::Exactly(std::string_view field) const {
  const auto found = std::ranges::find_if(requirements_, [field](const FieldRequirement& each) {
    return each.equal && each.field == field;
  });
  return found == requirements_.end() ? std::string() : found->value;
}

std::string FieldSelector::ToString() const {
  std::string out;
  for (const FieldRequirement& requirement : requirements_) {
    out += (out.empty() ? "" : ",") + requirement.ToString();
  }
  return out;
}

}  // namespace kubexx::apimachinery
