/// @file
/// The path of a field in an object, whose text is made only when it is needed.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_PATH_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_PATH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// A path such as "spec.containers[0].ports", as a chain of steps. Going deeper allocates no
/// memory, so that valid objects are checked without making texts of paths. A path points to the
/// path above it and to its name, which must outlive it. It is made and used inside a function and
/// never stored; therefore it cannot be copied.
class FieldPath {
 public:
  /// The path at which a check begins; "" for a whole object.
  explicit FieldPath(std::string_view root) : name_(root) {}
  FieldPath(const FieldPath&) = delete;
  FieldPath& operator=(const FieldPath&) = delete;

  /// The path of a member. `name` may be several members with dots between them.
  FieldPath Member(std::string_view name) const& { return FieldPath(this, name); }
  /// The path of an element of a list.
  FieldPath Element(std::size_t index) const& { return FieldPath(this, index); }
  FieldPath Member(std::string_view name) && = delete;
  FieldPath Element(std::size_t index) && = delete;

  /// The name of the last step; "" for an element.
  std::string_view Last() const { return name_; }
  /// The whole path as kube-apiserver writes it.
  std::string Text() const;
  /// The path of a member as text.
  std::string Of(std::string_view member) const { return Member(member).Text(); }
  /// The path of an entry of a map as text: "limits[cpu]".
  std::string Key(std::string_view key) const { return Text().append("[").append(key).append("]"); }

 private:
  FieldPath(const FieldPath* above, std::string_view name) : above_(above), name_(name) {}
  FieldPath(const FieldPath* above, std::size_t index)
      : above_(above), index_(index), is_element_(true) {}

  const FieldPath* above_ = nullptr;
  std::string_view name_{};
  std::size_t index_ = 0;
  bool is_element_ = false;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_PATH_H_
