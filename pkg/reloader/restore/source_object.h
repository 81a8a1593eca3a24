/// @file
/// A whole ConfigMap or Secret, as it is read and written for snapshots and restores.
#ifndef KUBEXX_RELOADER_RESTORE_SOURCE_OBJECT_H_
#define KUBEXX_RELOADER_RESTORE_SOURCE_OBJECT_H_

#include <string>
#include <utility>
#include <variant>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// A ConfigMap or a Secret with its data. It is the only place in the operator where data of
/// sources stay for longer than a digest takes, so keep no more than one or two, and not for long.
/// The data of a Secret, and what annotations repeat of them, are wiped when it is destroyed,
/// assigned or moved from. A value type.
class SourceObject {
 public:
  using Object = std::variant<api::core::v1::ConfigMap, api::core::v1::Secret>;

  explicit SourceObject(Object object) : object_(std::move(object)) {}
  SourceObject(const SourceObject&) = default;
  SourceObject(SourceObject&& other) noexcept;
  SourceObject& operator=(const SourceObject& other);
  SourceObject& operator=(SourceObject&& other) noexcept;
  ~SourceObject() { Wipe(); }

  /// An object of the type, without data.
  static SourceObject Empty(const SourceId& id);

  SourceType type() const {
    return std::holds_alternative<api::core::v1::Secret>(object_) ? SourceType::kSecret
                                                                  : SourceType::kConfigMap;
  }
  api::meta::v1::ObjectMeta& metadata();
  const api::meta::v1::ObjectMeta& metadata() const;
  bool is_immutable() const;
  void MakeImmutable();
  /// The digest of all data, as informers compute it.
  Digest DigestOfAll() const;
  /// Replaces all data by those of `other`, which must be of the same type.
  void TakeData(const SourceObject& other);
  /// Adds the data of `other`, which must be of the same type, in place of those of the same keys.
  void AddData(const SourceObject& other);
  const Object& object() const { return object_; }

 private:
  void Wipe();

  Object object_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_SOURCE_OBJECT_H_
