#include "kubexx/apiserver/endpoints/checks/name_rules.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstddef>

#include "kubexx/apimachinery/names.h"

namespace kubexx::apiserver {
namespace {

// A request for an object with a longer name could not be sent, and no informer could have the
// object.
constexpr std::size_t kMaxSegment = 32768;
constexpr std::size_t kMaxShortName = 63;

/// Returns the address as Go writes it, or "" when it is not an address, or is an IPv4 address in
/// the form of IPv6.
std::string CanonicalAddress(const std::string& text) {
  std::array<char, INET6_ADDRSTRLEN> canonical{};
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    inet_ntop(AF_INET, &v4, canonical.data(), canonical.size());
    return canonical.data();
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6)) {
    return {};
  }
  inet_ntop(AF_INET6, &v6, canonical.data(), canonical.size());
  std::string address = canonical.data();
  // Go writes "::a.b.c.d" with hexadecimal digits, too.
  if (address.find('.') != std::string::npos) {
    address = ":";
    for (std::size_t i = 12; i < 16; i += 2) {
      std::array<char, 4> digits{};
      const unsigned part = static_cast<unsigned>(v6.s6_addr[i]) << 8U | v6.s6_addr[i + 1];
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), part, 16).ptr;
      address += ":" + std::string(digits.data(), end);
    }
  }
  return address;
}

}  // namespace

std::string SubdomainNameProblem(std::string_view name) {
  return apimachinery::IsDnsSubdomain(name)
             ? ""
             : "must be a DNS subdomain: at most 253 lower case letters, digits, "
               "'-' and '.', with a letter or digit at both ends of each part";
}

std::string ShortNameProblem(std::string_view name) {
  return name.size() > kMaxShortName ? "must be no more than 63 characters"
                                     : SubdomainNameProblem(name);
}

std::string LabelNameProblem(std::string_view name) {
  return apimachinery::IsDnsLabel(name) ? ""
                                        : "must be a DNS label: at most 63 lower case letters, "
                                          "digits and '-', with a letter "
                                          "or digit at both ends";
}

std::string SegmentNameProblem(std::string_view name) {
  if (name.size() > kMaxSegment) {
    return "must be no more than " + std::to_string(kMaxSegment) + " characters";
  }
  return name == "." || name == ".." || name.find_first_of("/%") != std::string_view::npos
             ? "may not be '.' or '..' or contain '/' or '%'"
             : "";
}

std::string AddressNameProblem(std::string_view name) {
  return !name.empty() && CanonicalAddress(std::string(name)) == name
             ? ""
             : "must be a valid IP address in canonical form, (e.g. 10.9.8.7 or "
               "2001:db8::ffff)";
}

}  // namespace kubexx::apiserver
