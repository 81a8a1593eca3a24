/// @file
/// Lister: reads an informer's store.
#ifndef KUBEXX_CACHE_LISTER_H_
#define KUBEXX_CACHE_LISTER_H_

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/cache/shared_informer.h"

namespace kubexx::cache {

/// The labels of an object: its metadata's, or what its method Labels() gives.
template <class T>
decltype(auto) LabelsOf(const T& object) {
  if constexpr (requires { object.metadata.labels; }) {
    return (object.metadata.labels);
  } else {
    return object.Labels();
  }
}

/// Typed reads by namespace and label selector, as client-go's generated listers. A value; keeps
/// its informer. What it returns is as fresh as the informer. Thread-safe.
template <class T>
class Lister {
 public:
  explicit Lister(std::shared_ptr<const SharedInformer<T>> informer)
      : informer_(std::move(informer)) {}

  /// kNotFound when the store has no such object, kUnavailable when there was no list yet,
  /// kMalformed when it cannot be read; see SharedInformerBase::GetRaw. `namespace_` is empty for
  /// cluster-scoped types.
  apimachinery::Result<Ref<T>> Get(std::string_view namespace_, std::string_view name) const {
    return informer_->Get({std::string(namespace_), std::string(name)});
  }

  /// All objects in `namespace_` (empty: in all) that match, in no particular order. Each is
  /// decoded. kMalformed, naming the object, when one cannot be, and an error with the server's
  /// reason while one of the informer's namespaces is refused: what is left would be taken for all
  /// there is. kUnavailable before the first list, where client-go's listers give nothing.
  apimachinery::Result<std::vector<Ref<T>>> List(
      std::string_view namespace_ = {}, const apimachinery::LabelSelector& selector = {}) const {
    std::vector<Ref<T>> out;
    KX_RETURN_IF_ERROR(informer_->DecodeEach(
        namespace_, DecodeUntyped<T>, [&out, &selector](UntypedRef&& decoded) {
          Ref<T> object = std::static_pointer_cast<const T>(std::move(decoded));
          if (selector.Matches(LabelsOf(*object))) {
            out.push_back(std::move(object));
          }
        }));
    return out;
  }

  /// The objects that have all of `terms`, for example {{"namespace", "default"}, {"node", "n1"}},
  /// in no particular order. Only they are decoded. Errors as List's; an object that an index
  /// function could not read might have the terms, and is named as well.
  apimachinery::Result<std::vector<Ref<T>>> ByIndex(const IndexTerms& terms) const {
    std::vector<Ref<T>> out;
    KX_RETURN_IF_ERROR(
        informer_->DecodeEachByIndex(terms, DecodeUntyped<T>, [&out](UntypedRef&& decoded) {
          out.push_back(std::static_pointer_cast<const T>(std::move(decoded)));
        }));
    return out;
  }

 private:
  std::shared_ptr<const SharedInformer<T>> informer_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_LISTER_H_
