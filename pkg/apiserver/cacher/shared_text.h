/// @file
/// The JSON texts of objects, which share the parts that many objects have in common.
#ifndef KUBEXX_APISERVER_CACHER_SHARED_TEXT_H_
#define KUBEXX_APISERVER_CACHER_SHARED_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// Keeps one copy of each text, which all owners of an equal text share. Thread-safe.
class TextPool {
 public:
  using Ref = std::shared_ptr<const std::string>;
  Ref Of(std::string_view text);

  /// How many texts the pool holds, including those that nobody uses any more.
  std::size_t size() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
    std::size_t operator()(const Ref& text) const { return (*this)(std::string_view(*text)); }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view View(std::string_view text) { return text; }
    static std::string_view View(const Ref& text) { return *text; }
    bool operator()(const auto& a, const auto& b) const { return View(a) == View(b); }
  };

  mutable base::Mutex mu_;
  std::unordered_set<Ref, Hash, Equal> texts_ KX_GUARDED_BY(mu_);
  /// When the pool is larger than this, it drops the texts that nobody uses any more.
  std::size_t sweep_at_ KX_GUARDED_BY(mu_) = 256;
};

/// The JSON of one object. The values of its members "fieldsV1" (the sets of fields in
/// metadata.managedFields) are in the pool, because objects of one kind often have the same ones
/// and they can be half of the text. Immutable; copies share their content.
class SharedText {
 public:
  SharedText() = default;
  /// Keeps the whole text itself, without a pool.
  explicit SharedText(std::string json);
  /// Keeps the values of "fieldsV1" in `pool`. `json` must be valid JSON.
  SharedText(std::string_view json, TextPool& pool);

  std::string ToString() const;
  /// The size of the whole text.
  std::size_t size() const { return size_; }

 private:
  struct Piece {
    std::uint32_t at = 0;  // in rest_
    TextPool::Ref text{};
  };

  std::string rest_;
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_SHARED_TEXT_H_
