/// @file
/// Conversion: converts the objects of a custom resource between its versions.
#ifndef KUBEXX_WEBHOOK_CONVERSION_H_
#define KUBEXX_WEBHOOK_CONVERSION_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/schema.h"

namespace kubexx::webhook {

/// Returns `object`, which is JSON, in the version `api_version`, for example "example.com/v2".
using RawConversion = std::function<apimachinery::Result<std::string>(
    std::string_view object, const std::string& api_version)>;

/// The part of Conversion that does not depend on its types. Use Conversion.
class ConversionBase {
 public:
  /// Converts one object. kBadRequest when its version or the wanted one is not among the known
  /// ones, when it is of another kind, or does not fit its version; otherwise the error of a user's
  /// function. Thread-safe, as long as the user's functions are.
  apimachinery::Result<std::string> Convert(std::string_view object,
                                            const std::string& api_version) const;

 protected:
  using Step = std::function<apimachinery::Result<void>(const void* from, void* to)>;

  /// What is known of a version.
  struct Version {
    const apimachinery::ResourceInfo& resource;
    const codec::TypeSchema& schema;
    std::shared_ptr<void> (*make)();
    api::meta::v1::ObjectMeta& (*metadata_of)(void* object);
    Step to_hub{};    ///< empty for the hub itself
    Step from_hub{};  ///< empty for the hub itself
  };

  template <class V>
  static Version VersionOf() {
    return {.resource = api::ResourceOf<V>(),
            .schema = codec::SchemaOf<V>(),
            .make = []() -> std::shared_ptr<void> { return std::make_shared<V>(); },
            .metadata_of = [](void* object) -> api::meta::v1::ObjectMeta& {
              return static_cast<V*>(object)->metadata;
            }};
  }

  explicit ConversionBase(Version hub) { versions_.push_back(std::move(hub)); }
  void Add(Version version) { versions_.push_back(std::move(version)); }

 private:
  /// An object of some version.
  struct Typed {
    const Version& version;
    std::shared_ptr<void> object;
  };

  const Version* Find(std::string_view api_version) const;
  apimachinery::Error Unknown(std::string_view what, std::string_view api_version) const;
  apimachinery::Result<Typed> ToHub(Typed from) const;
  apimachinery::Result<Typed> FromHub(Typed hub, const Version& wanted) const;

  std::vector<Version> versions_;  ///< the hub is the first
};

/// Converts between the versions of a custom resource by way of one of them, the hub: each other
/// version has a function to the hub and one back.
///
///     using Hub = api::autoscaling::v2::HorizontalPodAutoscaler;  // or a type of your own
///     using Old = api::autoscaling::v1::HorizontalPodAutoscaler;
///     webhook::Conversion<Hub> conversion;
///     conversion.Version<Old>(
///         [](const Old& from, Hub& to) { to.spec.max_replicas = from.spec.max_replicas; },
///         [](const Hub& from, Old& to) { to.spec.max_replicas = from.spec.max_replicas; });
///     manager->webhooks()->HandleConversion("/convert", conversion);
///
/// The functions return nothing, or a Result<void>. They need not copy the metadata: the result has
/// that of the original object. They may change labels and annotations, for example to keep there
/// what the other version has no field for; the API server refuses any other change of the
/// metadata. Fields that the types do not know are lost. Not thread-safe while versions are added.
/// Semantics: controller-runtime's conversion.Hub and conversion.Convertible.
template <class Hub>
class Conversion final : public ConversionBase {
 public:
  Conversion() : ConversionBase(VersionOf<Hub>()) {}

  /// Adds the version V. `to_hub` is called as `to_hub(const V&, Hub&)`, and `from_hub` as
  /// `from_hub(const Hub&, V&)`. Both must be thread-safe.
  template <class V, class ToHub, class FromHub>
  Conversion& Version(ToHub to_hub, FromHub from_hub) {
    static_assert(!std::is_same_v<V, Hub>, "kubexx: the hub needs no functions of its own.");
    static_assert(std::is_invocable_v<const ToHub&, const V&, Hub&> &&
                      std::is_invocable_v<const FromHub&, const Hub&, V&>,
                  "kubexx: Version<V> takes two functions, (const V&, Hub&) and (const Hub&, V&).");
    ConversionBase::Version version = VersionOf<V>();
    version.to_hub = StepOf<V, Hub>(std::move(to_hub));
    version.from_hub = StepOf<Hub, V>(std::move(from_hub));
    Add(std::move(version));
    return *this;
  }

 private:
  template <class From, class To, class F>
  static Step StepOf(F convert) {
    return
        [convert = std::move(convert)](const void* from, void* to) -> apimachinery::Result<void> {
          if constexpr (std::is_void_v<std::invoke_result_t<const F&, const From&, To&>>) {
            convert(*static_cast<const From*>(from), *static_cast<To*>(to));
            return {};
          } else {
            return convert(*static_cast<const From*>(from), *static_cast<To*>(to));
          }
        };
  }
};

}  // namespace kubexx::webhook

#endif  // KUBEXX_WEBHOOK_CONVERSION_H_
