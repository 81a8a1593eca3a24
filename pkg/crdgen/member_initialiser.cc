#include "kubexx/crdgen/member_initialiser.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace kubexx::crdgen {
namespace {

using Tokens = std::span<const std::string>;

std::string Joined(Tokens tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    text += token;
  }
  return text.starts_with("::") ? text.substr(2) : text;
}

/// As Joined has it.
std::string TextOf(const HeaderType& type) {
  std::string text = type.name;
  for (const HeaderType& argument : type.arguments) {
    text += (&argument == type.arguments.data() ? "<" : ",") + TextOf(argument);
  }
  return type.arguments.empty() ? text : text + ">";
}

/// 0, -0, 0.0, 0L and the like.
bool IsZero(Tokens value) {
  if (value.front() == "-" || value.front() == "+") {
    value = value.subspan(1);
  }
  return value.size() == 1 && value[0].contains('0') && std::ranges::all_of(value[0], [](char c) {
           return std::string_view("0.'uUlL").contains(c);
         });
}

/// std::nullopt for a std::optional, 0 for a number.
bool IsEmptyValue(Tokens value, const MemberType& type) {
  if (type.shape == Shape::kOptional || type.is_optional_container) {
    const std::string text = Joined(value);
    return type.is_box ? text == "nullptr" : text == "std::nullopt" || text == "nullopt";
  }
  if (type.shape != Shape::kPlain || type.known == nullptr) {
    return false;
  }
  if (type.known->kind == "kString") {
    return Joined(value) == "\"\"";
  }
  const bool is_number = type.known->kind == "kBool" || type.known->kind == "kInt32" ||
                         type.known->kind == "kInt64" || type.known->kind == "kDouble";
  return is_number && (Joined(value) == "false" || IsZero(value));
}

}  // namespace

bool IsInitiallyEmpty(const HeaderMember& member, const MemberType& type) {
  Tokens value = member.initialiser;
  if (!value.empty() && value.front() == "=") {
    value = value.subspan(1);
  }
  if (value.size() >= 2 && value.front() == "{" && value.back() == "}") {
    value = value.subspan(1, value.size() - 2);
  }
  if (value.empty()) {
    return true;
  }
  const std::string text = Joined(value);
  return text == TextOf(member.type) + "{}" || text == TextOf(member.type) + "()" ||
         IsEmptyValue(value, type);
}

}  // namespace kubexx::crdgen
