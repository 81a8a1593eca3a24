#include "kubexx/apiserver/endpoints/checks/value_checks.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apimachinery/quantity.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::int64_t kLastPortNumber = 65535;
constexpr std::size_t kMaxPortNameBytes = 15;
constexpr std::size_t kMaxConfigKeyBytes = 253;

}  // namespace

const JsonTree* GivenAt(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr || found->IsNull() ? nullptr : found;
}

const JsonTree& PartAt(const JsonTree& object, std::string_view member) {
  static const JsonTree kNone = JsonTree::Object();
  const JsonTree* const found = GivenAt(object, member);
  return found == nullptr ? kNone : *found;
}

std::span<const JsonTree> ListAt(const JsonTree& object, std::string_view member) {
  const JsonTree* const list = object.Find(member);
  return list == nullptr ? std::span<const JsonTree>() : list->elements();
}

std::optional<std::int64_t> IntAt(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr ? std::nullopt : found->AsInt();
}

bool IsTrueAt(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found != nullptr && found->AsBool().value_or(false);
}

std::string JsonOrNull(const JsonTree* value) {
  return value == nullptr ? "null" : value->ToJson();
}

bool NeedText(const JsonTree& object, std::string_view member, const FieldPath& path,
              FieldCauses& causes) {
  if (!object.TextAt(member).empty()) {
    return true;
  }
  causes.Required(path.Of(member));
  return false;
}

void NeedTexts(const JsonTree& object, std::initializer_list<std::string_view> members,
               const FieldPath& path, FieldCauses& causes) {
  for (const std::string_view member : members) {
    NeedText(object, member, path, causes);
  }
}

bool IsAmong(std::string_view value, std::string_view values) {
  for (;;) {
    const std::size_t end = std::min(values.find('|'), values.size());
    if (values.substr(0, end) == value) {
      return true;
    }
    if (end == values.size()) {
      return false;
    }
    values.remove_prefix(end + 1);
  }
}

void AddNotSupported(std::string_view value, std::string_view values, std::string field,
                     FieldCauses& causes) {
  std::string list = "\"";
  for (const char c : values) {
    list += c == '|' ? std::string("\", \"") : std::string(1, c);
  }
  causes.NotSupported(std::move(field), QuotedJson(value), list + "\"");
}

void CheckChoice(const JsonTree& object, std::string_view member, std::string_view values,
                 const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const found = object.Find(member);
  const std::string* const text = found == nullptr ? nullptr : found->AsString();
  if (text != nullptr && !IsAmong(*text, values)) {
    AddNotSupported(*text, values, path.Of(member), causes);
  }
}

void CheckRange(const JsonTree& object, std::string_view member, std::int64_t least,
                std::int64_t most, const FieldPath& path, FieldCauses& causes) {
  if (const auto number = IntAt(object, member); number && (*number < least || *number > most)) {
    causes.Invalid(path.Of(member), std::to_string(*number),
                   "must be between " + std::to_string(least) + " and " + std::to_string(most) +
                       ", inclusive");
  }
}

void CheckLeast(const JsonTree& object, std::string_view member, std::int64_t least,
                const FieldPath& path, FieldCauses& causes) {
  if (const auto number = IntAt(object, member); number && *number < least) {
    causes.Invalid(path.Of(member), std::to_string(*number),
                   "must be greater than or equal to " + std::to_string(least));
  }
}

void CheckDnsLabel(std::string_view text, std::string field, FieldCauses& causes) {
  if (!apimachinery::IsDnsLabel(text)) {
    causes.Invalid(std::move(field), QuotedJson(text), "must be a DNS label");
  }
}

void CheckDnsSubdomain(std::string_view text, std::string field, FieldCauses& causes) {
  if (!apimachinery::IsDnsSubdomain(text)) {
    causes.Invalid(std::move(field), QuotedJson(text), "must be a DNS subdomain");
  }
}

void CheckDnsLabelAt(const JsonTree& object, std::string_view member, const FieldPath& path,
                     FieldCauses& causes) {
  if (const std::string_view text = object.TextAt(member);
      !text.empty() && !apimachinery::IsDnsLabel(text)) {
    CheckDnsLabel(text, path.Of(member), causes);
  }
}

void CheckDnsSubdomainAt(const JsonTree& object, std::string_view member, const FieldPath& path,
                         FieldCauses& causes) {
  if (const std::string_view text = object.TextAt(member);
      !text.empty() && !apimachinery::IsDnsSubdomain(text)) {
    CheckDnsSubdomain(text, path.Of(member), causes);
  }
}

void CheckPortNumber(std::int64_t port, std::string field, FieldCauses& causes) {
  if (port < 1 || port > kLastPortNumber) {
    causes.Invalid(std::move(field), std::to_string(port),
                   "must be between 1 and 65535, inclusive");
  }
}

void CheckPortName(std::string_view name, const std::string& field, FieldCauses& causes) {
  const auto add = [&](std::string_view why) { causes.Invalid(field, QuotedJson(name), why); };
  if (name.size() > kMaxPortNameBytes) {
    add("must be no more than 15 characters");
  }
  if (!std::ranges::all_of(name, [](char c) { return base::IsLowerAlphanumeric(c) || c == '-'; })) {
    add("must have only small letters, digits and '-'");
  }
  if (std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; })) {
    add("must have at least one letter");
  }
  if (name.find("--") != std::string_view::npos) {
    add("must not have two '-' in a row");
  }
  if (name.starts_with('-') || name.ends_with('-')) {
    add("must not begin or end with '-'");
  }
}

void CheckPortOrName(const JsonTree* port, const std::string& field, FieldCauses& causes) {
  if (const std::string* const name = port == nullptr ? nullptr : port->AsString()) {
    CheckPortName(*name, field, causes);
  } else {
    CheckPortNumber(port == nullptr ? 0 : port->AsInt().value_or(0), field, causes);
  }
}

void CheckSegment(std::string_view name, std::string field, FieldCauses& causes) {
  if (name == "." || name == "..") {
    causes.Invalid(std::move(field), QuotedJson(name), "may not be '.' or '..'");
    return;
  }
  for (const char c : {'/', '%'}) {
    if (name.find(c) != std::string_view::npos) {
      causes.Invalid(field, QuotedJson(name), std::string("may not contain '") + c + "'");
    }
  }
}

void CheckNoBacksteps(std::string_view text, const std::string& field, FieldCauses& causes) {
  for (std::size_t at = text.find(".."); at != std::string_view::npos;
       at = text.find("..", at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '/';
    const bool ends = at + 2 == text.size() || text[at + 2] == '/';
    if (begins && ends) {
      causes.Invalid(field, QuotedJson(text), "must not contain '..'");
      return;
    }
  }
}

void CheckRelativePath(std::string_view text, const std::string& field, FieldCauses& causes) {
  if (text.starts_with('/')) {
    causes.Invalid(field, QuotedJson(text), "must be a relative path");
  }
  CheckNoBacksteps(text, field, causes);
}

void CheckFilePath(std::string_view text, const std::string& field, FieldCauses& causes) {
  CheckRelativePath(text, field, causes);
  if (text.starts_with("..") && !text.starts_with("../")) {
    causes.Invalid(field, QuotedJson(text), "must not start with '..'");
  }
}

void CheckConfigKey(std::string_view key, const std::string& field, FieldCauses& causes) {
  const auto add = [&](std::string_view why) { causes.Invalid(field, QuotedJson(key), why); };
  if (key.size() > kMaxConfigKeyBytes) {
    add("must be no more than 253 characters");
  }
  if (key.empty() || !std::ranges::all_of(key, [](char c) {
        return base::IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
      })) {
    add("must have only letters, digits, '-', '_' and '.'");
  }
  if (key == ".") {
    add("must not be '.'");
  } else if (key.starts_with("..")) {
    add("must not start with '..'");
  }
}

void CheckQuantityAt(const JsonTree& object, std::string_view member, bool more_than_zero,
                     const FieldPath& path, FieldCauses& causes) {
  using apimachinery::Quantity;
  const std::string_view text = object.TextAt(member);
  if (text.empty()) {
    return;
  }
  const auto order = Quantity::Compare(Quantity::FromCanonical(std::string(text)), Quantity());
  if (order < 0 || (more_than_zero && order == 0)) {
    causes.Invalid(path.Of(member), QuotedJson(text),
                   more_than_zero ? "must be positive" : "must be greater than or equal to 0");
  }
}

void CheckDomainPath(std::string_view text, std::string field, FieldCauses& causes) {
  if (text.empty()) {
    causes.Required(std::move(field));
    return;
  }
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash >= text.size() - 1) {
    causes.Invalid(std::move(field), QuotedJson(text),
                   "must be a domain-prefixed path (such as \"acme.io/foo\")");
    return;
  }
  if (const std::string_view domain = text.substr(0, slash);
      !apimachinery::IsDnsSubdomain(domain)) {
    causes.Invalid(field, QuotedJson(domain), "must be a DNS subdomain");
  }
  constexpr std::string_view kOthers = "-._~!$&'()*+,;=:@/%";
  const std::string_view rest = text.substr(slash + 1);
  if (!std::ranges::all_of(rest, [&](char c) {
        return base::IsAlphanumeric(c) || kOthers.find(c) != std::string_view::npos;
      })) {
    causes.Invalid(std::move(field), QuotedJson(rest), "is no path");
  }
}

}  // namespace kubexx::apiserver
