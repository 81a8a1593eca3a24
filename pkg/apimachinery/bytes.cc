#include "kubexx/apimachinery/bytes.h"

#include <cstring>

namespace kubexx::apimachinery {

void Wipe(std::string& text) {
  text.resize(text.capacity());
  explicit_bzero(text.data(), text.size());
  text.clear();
}

Bytes::Bytes(Bytes&& other) noexcept : value_(std::move(other.value_)) { Wipe(other.value_); }

Bytes& Bytes::operator=(const Bytes& other) {
  if (this != &other) {
    Wipe(value_);
    value_ = other.value_;
  }
  return *this;
}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
  if (this != &other) {
    Wipe(value_);
    value_ = std::move(other.value_);
    Wipe(other.value_);
  }
  return *this;
}

}  // namespace kubexx::apimachinery
