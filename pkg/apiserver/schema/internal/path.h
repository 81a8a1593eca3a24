/// @file
/// Where something stands in the schemas of a definition.
#ifndef KUBEXX_APISERVER_SCHEMA_INTERNAL_PATH_H_
#define KUBEXX_APISERVER_SCHEMA_INTERNAL_PATH_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kubexx::apiserver::schema::internal {

/// A path as its steps, each of which knows the one before: its text, which may be as long as the
/// definition, is made only for those that want it. Those before a step, and the texts it is made
/// from, must outlive it.
class Path {
 public:
  explicit Path(std::string_view root) : name_(root) {}

  /// ".name"
  Path Field(std::string_view name) const { return Path(this, ".", name, ""); }
  /// ".properties[key]"
  Path Property(std::string_view key) const { return Path(this, ".properties[", key, "]"); }
  /// ".name[index]"
  Path Element(std::string_view name, std::size_t index) const {
    Path path(this, ".", name, "");
    path.index_ = index;
    return path;
  }

  std::string Text() const {
    std::string text;
    AppendTo(text);
    return text;
  }

 private:
  Path(const Path* before, std::string_view open, std::string_view name, std::string_view close)
      : before_(before), open_(open), name_(name), close_(close) {}

  void AppendTo(std::string& text) const {
    if (before_ != nullptr) {
      before_->AppendTo(text);
    }
    text.append(open_).append(name_).append(close_);
    if (index_) {
      text.append("[").append(std::to_string(*index_)).append("]");
    }
  }

  const Path* before_ = nullptr;
  std::string_view open_{};
  std::string_view name_;
  std::string_view close_{};
  std::optional<std::size_t> index_{};
};

}  // namespace kubexx::apiserver::schema::internal

#endif  // KUBEXX_APISERVER_SCHEMA_INTERNAL_PATH_H_
