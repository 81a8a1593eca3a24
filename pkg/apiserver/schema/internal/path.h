/// @file
/// Paths into the schemas of a definition.
#ifndef KUBEXX_APISERVER_SCHEMA_INTERNAL_PATH_H_
#define KUBEXX_APISERVER_SCHEMA_INTERNAL_PATH_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kubexx::apiserver::schema::internal {

/// The last step of a path, which points to the step before it. The text of a path may be as long
/// as the definition, so it is only made when Text is called. The steps before a step, and the
/// texts from which it was made, must outlive it.
class Path {
 public:
  explicit Path(std::string_view root) : name_(root) {}

  /// Appends ".name".
  Path Field(std::string_view name) const { return Path(this, ".", name, ""); }
  /// Appends ".properties[key]".
  Path Property(std::string_view key) const { return Path(this, ".properties[", key, "]"); }
  /// Appends ".name[index]".
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
