#include "kubexx/apiserver/endpoints/checks/address_checks.h"

#include <utility>

#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {

void CheckAddress(std::string_view text, std::string field, FieldCauses& causes) {
  if (!AddressProblem(text).empty()) {
    causes.Invalid(std::move(field), QuotedJson(text),
                   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
}

void CheckAddressRange(std::string_view text, std::string field, FieldCauses& causes) {
  if (!CidrProblem(text).empty()) {
    causes.Invalid(std::move(field), QuotedJson(text),
                   "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  }
}

}  // namespace kubexx::apiserver
