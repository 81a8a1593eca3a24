/// @file
/// Index terms: their form in the API, and their encoded form in the store's entries.
#ifndef KUBEXX_CACHE_INDEX_TERMS_H_
#define KUBEXX_CACHE_INDEX_TERMS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::cache {

/// Index terms of an object: pairs of index name and value, for example {"namespace", "default"}.
using IndexTerms = std::vector<std::pair<std::string, std::string>>;

/// The number that a store uses for the name of an index.
using IndexId = std::uint8_t;

/// The index of objects that another index lacks because its function could not read them. A value
/// in this index is the other index's number, or empty when any index may lack the object.
inline constexpr IndexId kUnreadIndex = 255;

/// Encodes one term as a lookup key: the index's number, then the value.
std::string EncodeTerm(IndexId index, std::string_view value);

/// A view of encoded terms, each preceded by its length. Append makes the bytes.
class EncodedTerms {
 public:
  /// Iterates over the terms in the order in which they were encoded.
  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    std::string_view operator*() const { return rest_.substr(kPrefix, Size()); }
    Iterator& operator++() {
      rest_.remove_prefix(kPrefix + Size());
      return *this;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    std::size_t Size() const {
      std::uint16_t size = 0;
      std::memcpy(&size, rest_.data(), kPrefix);
      return size;
    }
    std::string_view rest_;
  };

  explicit EncodedTerms(std::string_view bytes) : bytes_(bytes) {}
  Iterator begin() const { return Iterator(bytes_); }
  Iterator end() const { return Iterator({}); }
  bool empty() const { return bytes_.empty(); }
  bool Contains(std::string_view term) const;

  /// Appends a term to `out`. kInvalid when its value is longer than 65,534 bytes.
  static apimachinery::Result<void> Append(IndexId index, std::string_view value, std::string& out);

 private:
  static constexpr std::size_t kPrefix = sizeof(std::uint16_t);
  std::string_view bytes_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INDEX_TERMS_H_
