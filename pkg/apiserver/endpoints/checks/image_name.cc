#include "kubexx/apiserver/endpoints/checks/image_name.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

constexpr std::size_t kMaxTag = 128;
constexpr std::size_t kMaxPath = 255;
constexpr std::size_t kIdentifier = 64;
constexpr std::string_view kFamiliar = "library/";  // precedes a name of one part

bool IsSmallHex(char c) { return base::IsDigit(c) || (c >= 'a' && c <= 'f'); }

/// Words of small letters and digits with ".", "_", "__" or any number of "-" between them.
bool IsPathPart(std::string_view part) {
  while (true) {
    const auto* const end = std::ranges::find_if_not(part, base::IsLowerAlphanumeric);
    if (end == part.begin()) {
      return false;
    }
    part.remove_prefix(static_cast<std::size_t>(end - part.begin()));
    if (part.empty()) {
      return true;
    }
    std::size_t separator = 1;
    if (part.starts_with("__")) {
      separator = 2;
    } else if (part.front() == '-') {
      separator = std::min(part.find_first_not_of('-'), part.size());
    } else if (part.front() != '.' && part.front() != '_') {
      return false;
    }
    part.remove_prefix(separator);
  }
}

/// Whether `is_good` holds for every part between the separators.
bool AllBetween(std::string_view text, char separator, bool (*is_good)(std::string_view)) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!is_good(text.substr(0, end))) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(end + 1);
  }
}

bool IsHostPart(std::string_view part) {
  return !part.empty() && part.front() != '-' && part.back() != '-' &&
         std::ranges::all_of(part, [](char c) { return base::IsAlphanumeric(c) || c == '-'; });
}

/// A name or an address of IPv6, perhaps with a port.
bool IsDomain(std::string_view domain) {
  std::size_t host = domain.find(':');
  if (domain.starts_with('[')) {
    host = domain.find(']');
    if (host == std::string_view::npos || host < 2 ||
        !std::ranges::all_of(
            domain.substr(1, host - 1),
            [](char c) { return IsSmallHex(c) || (c >= 'A' && c <= 'F') || c == ':'; })) {
      return false;
    }
    ++host;
  } else if (!AllBetween(domain.substr(0, host), '.', IsHostPart)) {
    return false;
  }
  const std::string_view port = domain.substr(std::min(host, domain.size()));
  return port.empty() || (port.size() > 1 && port.front() == ':' &&
                          std::ranges::all_of(port.substr(1), base::IsDigit));
}

bool IsTag(std::string_view tag) {
  const auto is_word = [](char c) { return base::IsAlphanumeric(c) || c == '_'; };
  return !tag.empty() && tag.size() <= kMaxTag && is_word(tag.front()) &&
         std::ranges::all_of(tag,
                             [&is_word](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool IsDigest(std::string_view digest) {
  constexpr std::pair<std::string_view, std::size_t> kAlgorithms[] = {
      {"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}};
  return std::ranges::any_of(kAlgorithms, [digest](const auto& one) {
    return digest.starts_with(one.first) && digest.size() == one.first.size() + one.second &&
           std::ranges::all_of(digest.substr(one.first.size()), IsSmallHex);
  });
}

/// Returns the length of the domain at the beginning of a name, or 0 when the name begins with a
/// path. A first part that could be either is a domain when it contains something that a path
/// cannot contain.
std::size_t DomainOf(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    return 0;
  }
  const std::string_view first = name.substr(0, slash);
  const bool is_domain = first == "localhost" ||
                         first.find_first_of(".:") != std::string_view::npos ||
                         std::ranges::any_of(first, base::IsUpper);
  return is_domain ? slash : 0;
}

}  // namespace

std::optional<ImageName> ParseImageName(std::string_view image) {
  ImageName parts;
  if (image.size() == kIdentifier && std::ranges::all_of(image, IsSmallHex)) {
    return std::nullopt;  // Container runtimes use such names among themselves.
  }
  std::string_view path = image;
  std::size_t more = 0;
  if (const std::size_t domain = DomainOf(image); domain != 0) {
    if (!IsDomain(image.substr(0, domain))) {
      return std::nullopt;
    }
    path.remove_prefix(domain + 1);
    const bool of_hub = image.starts_with("docker.io/") || image.starts_with("index.docker.io/");
    more = of_hub && path.find('/') == std::string_view::npos ? kFamiliar.size() : 0;
  } else if (path.find('/') == std::string_view::npos) {
    more = kFamiliar.size();
  }
  if (const std::size_t at = path.find('@'); at != std::string_view::npos) {
    parts.digest = path.substr(at + 1);
    path = path.substr(0, at);
    if (!IsDigest(parts.digest)) {
      return std::nullopt;
    }
  }
  if (const std::size_t colon = path.find(':'); colon != std::string_view::npos) {
    parts.tag = path.substr(colon + 1);
    path = path.substr(0, colon);
    if (!IsTag(parts.tag)) {
      return std::nullopt;
    }
  }
  if (path.size() + more > kMaxPath || !AllBetween(path, '/', IsPathPart)) {
    return std::nullopt;
  }
  if (parts.tag.empty() && parts.digest.empty()) {
    parts.tag = "latest";
  }
  return parts;
}

}  // namespace kubexx::apiserver
