#include "kubexx/apiserver/schema/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/ascii.h"
#include "kubexx/codec/base64.h"

namespace kubexx::apiserver::schema {
namespace {

/// Whether `text` has the form `shape`, in which 'x' is a hexadecimal digit, '9' a decimal digit,
/// and any other character itself.
bool HasShape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(text, shape, [](char c, char s) {
    return s == 'x' ? base::IsHexDigit(c) : s == '9' ? base::IsDigit(c) : c == s;
  });
}

bool IsUuid(std::string_view value, char version) {
  if (!HasShape(value, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") &&
      !HasShape(value, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")) {
    return false;
  }
  const bool dashes = value.size() == 36;
  const char variant = value[dashes ? 19 : 16];
  return version == '\0' ||
         (value[dashes ? 14 : 12] == version &&
          (version == '3' || std::string_view("89abAB").find(variant) != std::string_view::npos));
}

bool IsAddress(int family, std::string_view value) {
  std::array<unsigned char, 16> bytes{};
  return value.size() < 64 && inet_pton(family, std::string(value).c_str(), bytes.data()) == 1;
}

bool IsCidr(std::string_view value) {
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) {
    return false;
  }
  const std::string_view length = value.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  if (error != std::errc() || end != length.data() + length.size()) {
    return false;
  }
  const std::string_view address = value.substr(0, slash);
  return (bits <= 32 && IsAddress(AF_INET, address)) ||
         (bits <= 128 && IsAddress(AF_INET6, address));
}

bool IsMac(std::string_view value) {
  return HasShape(value, "xx:xx:xx:xx:xx:xx") || HasShape(value, "xx-xx-xx-xx-xx-xx") ||
         HasShape(value, "xxxx.xxxx.xxxx") || HasShape(value, "xx:xx:xx:xx:xx:xx:xx:xx");
}

bool IsDate(std::string_view value) {
  return HasShape(value, "9999-99-99") &&
         apimachinery::Time::Parse(std::string(value) + "T00:00:00Z").has_value();
}

bool IsDuration(std::string_view value) { return apimachinery::Duration::Parse(value).has_value(); }

bool IsHostName(std::string_view value) {
  if (value.empty() || value.size() > 255) {
    return false;
  }
  while (true) {
    const std::string_view label = value.substr(0, value.find('.'));
    const bool good =
        !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
        std::ranges::all_of(label, [](char c) { return base::IsAlphanumeric(c) || c == '-'; });
    if (!good) {
      return false;
    }
    if (label.size() == value.size()) {
      return true;
    }
    value.remove_prefix(label.size() + 1);
  }
}

bool IsEmail(std::string_view value) {
  const std::size_t at = value.rfind('@');
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '@' && c != '<' && c != '>' && c != ',';
  };
  return at != std::string_view::npos && at > 0 && at + 1 < value.size() &&
         std::ranges::all_of(value.substr(0, at), plain) &&
         std::ranges::all_of(value.substr(at + 1), plain);
}

/// As Go's url.ParseRequestURI, it accepts an absolute URI or a path from the root.
bool IsUri(std::string_view value) {
  if (std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) < ' '; })) {
    return false;
  }
  if (value.starts_with('/')) {
    return true;
  }
  const std::size_t colon = value.find(':');
  return colon != std::string_view::npos && colon > 0 && base::IsLetter(value.front()) &&
         std::ranges::all_of(value.substr(0, colon), [](char c) {
           return base::IsAlphanumeric(c) || c == '+' || c == '-' || c == '.';
         });
}

bool IsByte(std::string_view value) {
  std::string decoded;
  return codec::DecodeBase64(value, decoded);
}

struct Format {
  std::string_view name;
  bool (*check)(std::string_view value);
};
const Format kFormats[] = {
    {"date", IsDate},
    {"date-time", [](std::string_view v) { return apimachinery::Time::Parse(v).has_value(); }},
    {"datetime", [](std::string_view v) { return apimachinery::Time::Parse(v).has_value(); }},
    {"duration", IsDuration},
    {"byte", IsByte},
    {"uuid", [](std::string_view v) { return IsUuid(v, '\0'); }},
    {"uuid3", [](std::string_view v) { return IsUuid(v, '3'); }},
    {"uuid4", [](std::string_view v) { return IsUuid(v, '4'); }},
    {"uuid5", [](std::string_view v) { return IsUuid(v, '5'); }},
    {"ipv4", [](std::string_view v) { return IsAddress(AF_INET, v); }},
    {"ipv6", [](std::string_view v) { return IsAddress(AF_INET6, v); }},
    {"cidr", IsCidr},
    {"mac", IsMac},
    {"hostname", IsHostName},
    {"email", IsEmail},
    {"uri", IsUri},
    {"hexcolor",
     [](std::string_view v) {
       return HasShape(v, "#xxx") || HasShape(v, "#xxxxxx") || HasShape(v, "xxx") ||
              HasShape(v, "xxxxxx");
     }},
    {"k8s-short-name", apimachinery::IsDnsLabel},
    {"k8s-long-name", apimachinery::IsDnsSubdomain},
};

}  // namespace

bool HasFormat(std::string_view format, std::string_view value) {
  const auto* const found = std::ranges::find(kFormats, format, &Format::name);
  return found == std::end(kFormats) || found->check(value);
}

}  // namespace kubexx::apiserver::schema
