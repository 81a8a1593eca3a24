#include "kubexx/codec/internal/field_error.h"

#include <ranges>

namespace kubexx::codec::internal {
namespace {

// Keys come from the input; an error message stays short whatever they are.
constexpr std::size_t kMaxKeyBytes = 64;

std::string Printable(std::string_view key) {
  std::string out;
  for (const char c : key.substr(0, kMaxKeyBytes)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return key.size() > kMaxKeyBytes ? out + "..." : out;
}

}  // namespace

bool FieldError::AtField(std::string_view name) {
  segments_.emplace_back(name);
  return false;
}

bool FieldError::AtIndex(std::size_t index) {
  segments_.push_back("[" + std::to_string(index) + "]");
  return false;
}

bool FieldError::AtKey(std::string_view key) {
  segments_.push_back("[" + Printable(key) + "]");
  return false;
}

apimachinery::Status FieldError::ToStatus() const {
  std::string path;
  for (const std::string& segment : std::views::reverse(segments_)) {
    if (!path.empty() && segment.front() != '[') {
      path += '.';
    }
    path += segment;
  }
  return apimachinery::Malformed(std::move(path), what_);
}

}  // namespace kubexx::codec::internal
