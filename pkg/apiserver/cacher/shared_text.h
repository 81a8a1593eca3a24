/// @file
/// JSON of objects that shares what most of them have in common.
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

/// Keeps one copy of texts that are alike, as long as somebody has it. Thread-safe.
class TextPool {
 public:
  using Ref = std::shared_ptr<const std::string>;
  Ref Of(std::string_view text);

  /// Texts that it holds, those nobody has any more included.
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
  /// Above this size those that nobody has are dropped.
  std::size_t sweep_at_ KX_GUARDED_BY(mu_) = 256;
};

/// The JSON of one object. The values of its members "fieldsV1", the sets of fields in
/// metadata.managedFields, which objects of one kind have alike and which can be half of the text,
/// are in the pool. Immutable; copies share.
class SharedText {
 public:
  SharedText() = default;
  /// Shares nothing.
  explicit SharedText(std::string json);
  /// `json` is valid.
  SharedText(std::string_view json, TextPool& pool);

  std::string ToString() const;
  /// Of the whole text.
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
