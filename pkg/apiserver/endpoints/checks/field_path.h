/// @file
/// Where in an object a check is, written only when there is something to tell.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_PATH_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_PATH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// A path such as "spec.containers[0].ports", which is a chain of its ends: going deeper costs no
/// memory, so that what is good is checked without a path of it ever being written. A path points
/// to the one above it and to its names, which have to outlive it; it is made and used in a
/// function, never kept. Not copied for the same reason.
class FieldPath {
 public:
  /// The path of what is looked at; "" for a whole object.
  explicit FieldPath(std::string_view root) : name_(root) {}
  FieldPath(const FieldPath&) = delete;
  FieldPath& operator=(const FieldPath&) = delete;

  /// That of a member, which may be several with dots between them.
  FieldPath Member(std::string_view name) const& { return FieldPath(this, name); }
  /// That of an element.
  FieldPath Element(std::size_t index) const& { return FieldPath(this, index); }
  FieldPath Member(std::string_view name) && = delete;
  FieldPath Element(std::size_t index) && = delete;

  /// The name at its end; "" of an element.
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
