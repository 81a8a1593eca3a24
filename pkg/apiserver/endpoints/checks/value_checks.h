/// @file
/// Checks of single values, such as names, numbers, ports and choices. The checks of whole types
/// use them.
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

/// The largest value of most number fields of the API.
inline constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

/// The member; null when it is missing or null.
const codec::JsonTree* GivenAt(const codec::JsonTree& object, std::string_view member);

/// The object `member`; an empty object when it is missing. Valid as long as `object`.
const codec::JsonTree& PartAt(const codec::JsonTree& object, std::string_view member);

/// The elements of the list `member`; empty when there is no list. Valid as long as `object`.
std::span<const codec::JsonTree> ListAt(const codec::JsonTree& object, std::string_view member);

/// The number `member`; std::nullopt when there is none.
std::optional<std::int64_t> IntAt(const codec::JsonTree& object, std::string_view member);

/// Whether the member is true.
bool IsTrueAt(const codec::JsonTree& object, std::string_view member);

/// The value in JSON; "null" when there is none.
std::string JsonOrNull(const codec::JsonTree* value);

/// Quotes a text as a JSON string.
using codec::QuotedJson;

/// Calls `check` with every element of the list `member` of `object` and with the path of the
/// element. `path` is that of `object`.
template <typename Check>
void ForEachOf(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
               const Check& check) {
  const std::span<const codec::JsonTree> elements = ListAt(object, member);
  const FieldPath list = path.Member(member);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    check(elements[i], list.Element(i));
  }
}

/// Calls `check` with the member and its path, if the member is given and not null.
template <typename Check>
void IfGiven(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
             const Check& check) {
  if (const codec::JsonTree* const found = GivenAt(object, member)) {
    check(*found, path.Member(member));
  }
}

/// Whether the text `member` is given. Adds the cause that it is required when it is missing or
/// empty.
bool NeedText(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
              FieldCauses& causes);

/// The same for several texts.
void NeedTexts(const codec::JsonTree& object, std::initializer_list<std::string_view> members,
               const FieldPath& path, FieldCauses& causes);

/// Adds a cause when the member is a text, even an empty one, that is not one of `values`, which
/// are separated by "|".
void CheckChoice(const codec::JsonTree& object, std::string_view member, std::string_view values,
                 const FieldPath& path, FieldCauses& causes);

/// Whether `value` is one of `values`, which are separated by "|".
bool IsAmong(std::string_view value, std::string_view values);

/// Adds the cause that `value` is not one of `values`, which are separated by "|".
void AddNotSupported(std::string_view value, std::string_view values, std::string field,
                     FieldCauses& causes);

/// Adds a cause when a number is given and not within `least` to `most`.
void CheckRange(const codec::JsonTree& object, std::string_view member, std::int64_t least,
                std::int64_t most, const FieldPath& path, FieldCauses& causes);

/// Adds a cause when a number is given and below `least`.
void CheckLeast(const codec::JsonTree& object, std::string_view member, std::int64_t least,
                const FieldPath& path, FieldCauses& causes);

/// Adds a cause when a text is not a DNS label.
void CheckDnsLabel(std::string_view text, std::string field, FieldCauses& causes);
/// Adds a cause when a text is not a DNS subdomain.
void CheckDnsSubdomain(std::string_view text, std::string field, FieldCauses& causes);

/// Adds a cause when the text `member` is given, not empty, and no DNS label.
void CheckDnsLabelAt(const codec::JsonTree& object, std::string_view member, const FieldPath& path,
                     FieldCauses& causes);
/// Adds a cause when the text `member` is given, not empty, and no DNS subdomain.
void CheckDnsSubdomainAt(const codec::JsonTree& object, std::string_view member,
                         const FieldPath& path, FieldCauses& causes);

/// Adds a cause when the number is not a valid port number.
void CheckPortNumber(std::int64_t port, std::string field, FieldCauses& causes);

/// Adds what is wrong with a port name, by IANA's rules: one cause for each fault.
void CheckPortName(std::string_view name, const std::string& field, FieldCauses& causes);

/// Adds what is wrong with a port that is a number or a name; null counts as 0.
void CheckPortOrName(const codec::JsonTree* port, const std::string& field, FieldCauses& causes);

/// Adds a cause when a name cannot be a segment of a URL's path.
void CheckSegment(std::string_view name, std::string field, FieldCauses& causes);

/// Adds a cause when a path can lead outside its start directory: it is absolute or has "..".
void CheckRelativePath(std::string_view text, const std::string& field, FieldCauses& causes);
/// Adds a cause when a path has "..".
void CheckNoBacksteps(std::string_view text, const std::string& field, FieldCauses& causes);
/// Adds a cause when a path can lead outside its start directory, or begins with "..", which
/// kubelet reserves for itself.
void CheckFilePath(std::string_view text, const std::string& field, FieldCauses& causes);

/// Adds what is wrong with a key of a ConfigMap or Secret.
void CheckConfigKey(std::string_view key, const std::string& field, FieldCauses& causes);

/// Adds a cause when the quantity `member` is given and below zero, or is zero with
/// `more_than_zero`.
void CheckQuantityAt(const codec::JsonTree& object, std::string_view member, bool more_than_zero,
                     const FieldPath& path, FieldCauses& causes);

/// Adds a cause when a text is not a domain followed by a path, such as "example.com/a".
void CheckDomainPath(std::string_view text, std::string field, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_VALUE_CHECKS_H_
