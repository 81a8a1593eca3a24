/// @file
/// Bytes: byte strings that leave no copies in memory.
#ifndef KUBEXX_APIMACHINERY_BYTES_H_
#define KUBEXX_APIMACHINERY_BYTES_H_

#include <string>
#include <string_view>
#include <utility>

namespace kubexx::apimachinery {

/// Overwrites the whole buffer of `text`, including its spare capacity, and clears it. The compiler
/// never removes this.
void Wipe(std::string& text);

/// Go's []byte: raw bytes, base64 in JSON. Because it holds the data of Secrets, it wipes its
/// buffer when it is destroyed, assigned or moved from. A value type.
class Bytes {
 public:
  Bytes() = default;
  /// Pass the string by std::move, so that no copy of it remains.
  explicit Bytes(std::string&& value) : value_(std::move(value)) { Wipe(value); }
  explicit Bytes(const std::string& value) : value_(value) {}
  Bytes(const Bytes&) = default;
  Bytes(Bytes&& other) noexcept;
  Bytes& operator=(const Bytes& other);
  Bytes& operator=(Bytes&& other) noexcept;
  ~Bytes() { Wipe(value_); }

  std::string_view view() const { return value_; }
  bool empty() const { return value_.empty(); }
  bool operator==(const Bytes&) const = default;

 private:
  std::string value_;
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_BYTES_H_
