/// @file
/// Checks of single values, of which those of whole types are made: names, numbers, ports, choices.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_VALUE_CHECKS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_VALUE_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_text.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The largest number that most fields of the API can have.
inline constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

/// The member when it is there and not null.
const codec::JsonTree* GivenAt(const codec::JsonTree& object, std::string_view member);

/// The object `member`; one without members when it is not there. Valid while `object` is.
const codec::JsonTree& PartAt(const codec::JsonTree& object, std::string_view member);

/// The elements of the list `member`; none when there is no list. Valid while `object` is.
std::span<const codec::JsonTree> ListAt(const codec::JsonTree& object, std::string_view member);

/// The number `member`; nothing when there is none.
std::optional<std::int64_t> IntAt(const codec::JsonTree& object, std::string_view member);

/// Whether the member is true.
bool IsTrueAt(const codec::JsonTree& object, std::string_view member);

/// The text in quotes, as JSON.
using codec::QuotedJson;

/// Calls `check` with every element of the list `member` of `object`, which is at `path`, and with
/// its path.
template <typename Check>
void ForEachOf(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
               const Check& check) {
  const std::span<const codec::JsonTree> elements = ListAt(object, member);
  const FieldPath list = path.Member(member);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    check(elements[i], list.Element(i));
  }
}

/// The same of a member that is an object, if it is there.
template <typename Check>
void IfGiven(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
             const Check& check) {
  if (const codec::JsonTree* const found = GivenAt(object, member)) {
    check(*found, path.Member(member));
  }
}

/// Whether the text `member` is there; adds that it has to be when it is missing or empty.
bool NeedText(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
              FieldCauses& causes);

/// Adds those of the texts that are missing or empty.
void NeedTexts(const codec::JsonTree& object, std::initializer_list<std::string_view> members,
               const FieldPath& path, FieldCauses& causes);

/// Adds that a text that is there, or empty, is none of `values`, which have "|" between them.
void CheckChoice(const codec::JsonTree& object, std::string_view member, std::string_view values,
                 const FieldPath& path, FieldCauses& causes);

/// Whether `value` is one of `values`, which have "|" between them.
bool IsAmong(std::string_view value, std::string_view values);

/// Adds that a text is none of them.
void AddNotSupported(std::string_view value, std::string_view values, std::string field,
                     FieldCauses& causes);

/// Adds that a number that is there is outside of `least` to `most`.
void CheckRange(const codec::JsonTree& object, std::string_view member, std::int64_t least,
                std::int64_t most, const FieldPath& path, FieldCauses& causes);

/// Adds that a number that is there is below `least`.
void CheckLeast(const codec::JsonTree& object, std::string_view member, std::int64_t least,
                const FieldPath& path, FieldCauses& causes);

/// Adds that a text is no DNS label.
void CheckDnsLabel(std::string_view text, std::string field, FieldCauses& causes);
/// Adds that a text is no DNS subdomain.
void CheckDnsSubdomain(std::string_view text, std::string field, FieldCauses& causes);

/// Adds that a text `member` that is there and not empty is no DNS label.
void CheckDnsLabelAt(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
                     FieldCauses& causes);
/// Adds that a text `member` that is there and not empty is no DNS subdomain.
void CheckDnsSubdomainAt(const codec::JsonTree& object, std::string_view member,
                         const FieldPath& path, FieldCauses& causes);

/// Adds that the number is none of a port.
void CheckPortNumber(std::int64_t port, std::string field, FieldCauses& causes);

/// Adds what is wrong with the name of a port, as IANA has them: one cause for each fault.
void CheckPortName(std::string_view name, const std::string& field, FieldCauses& causes);

/// Adds what is wrong with a port that is a number or a name; null counts as 0.
void CheckPortOrName(const codec::JsonTree* port, const std::string& field, FieldCauses& causes);

/// Adds that a name could be no part of a URL's path.
void CheckSegment(std::string_view name, std::string field, FieldCauses& causes);

/// Adds that a path leads out of where it starts: it is absolute or has "..".
void CheckRelativePath(std::string_view text, const std::string& field, FieldCauses& causes);
/// Adds that a path has "..".
void CheckNoBacksteps(std::string_view text, const std::string& field, FieldCauses& causes);
/// Adds that a path leads out of where it starts, or begins with "..", which kubelet keeps for
/// itself.
void CheckFilePath(std::string_view text, const std::string& field, FieldCauses& causes);

/// Adds what is wrong with a key of a ConfigMap or Secret.
void CheckConfigKey(std::string_view key, const std::string& field, FieldCauses& causes);

/// Adds that a quantity `member` that is there is below zero, or is zero when it has to be more.
void CheckQuantityAt(const codec::JsonTree& object, std::string_view member, bool more_than_zero,
                     const FieldPath& path, FieldCauses& causes);

/// Adds that a text is no domain with a path after it, such as "example.com/a".
void CheckDomainPath(std::string_view text, std::string field, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_VALUE_CHECKS_H_
