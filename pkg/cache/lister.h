/// @file
/// Lister: reads an informer's store.
#ifndef KUBEXX_CACHE_LISTER_H_
#define KUBEXX_CACHE_LISTER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/cache/shared_informer.h"

namespace kubexx::cache {

/// Returns the labels of an object: those of its metadata, or the result of its method Labels().
template <class T>
decltype(auto) LabelsOf(const T& object) {
  if constexpr (requires { object.metadata.labels; }) {
    return (object.metadata.labels);
  } else {
    return object.Labels();
  }
}

/// Reads typed objects by namespace and label selector, as client-go's generated listers. A value
/// type that shares ownership of its informer. Its results are as fresh as the informer.
/// Thread-safe.
template <class T>
class Lister {
 public:
  explicit Lister(std::shared_ptr<const SharedInformer<T>> informer)
      : informer_(std::move(informer)) {}

  /// Returns an object. kNotFound when the store has no such object, kUnavailable when there was no
  /// list yet, kMalformed when the object cannot be read; see SharedInformerBase::GetRaw.
  /// `namespace_` is empty for cluster-scoped types.
  apimachinery::Result<Ref<T>> Get(std::string_view namespace_, std::string_view name) const {
    return informer_->Get({std::string(namespace_), std::string(name)});
  }

  /// Returns the matching objects in `namespace_` (empty: in all namespaces), in no particular
  /// order. With a selector it decodes only these, see List(selection). Instead of an incomplete
  /// list it returns an error: kMalformed, which names the object, when one of them cannot be
  /// decoded; an error with the server's reason while the server has refused one of the informer's
  /// namespaces from the start, so that it has had no list; and kUnavailable before the first list,
  /// where client-go's listers return an empty list. A refusal after the first list is not an
  /// error, as with client-go: see "When the rights are taken away" in docs/library/informers.md.
  apimachinery::Result<std::vector<Ref<T>>> List(
      std::string_view namespace_ = {}, const apimachinery::LabelSelector& selector = {}) const {
    return List(Selection{.namespace_ = std::string(namespace_), .labels = selector});
  }

  /// Returns the selected objects, in no particular order, and decodes only these: by the labels
  /// and the indexes of the packed objects. The first list with a label selector makes the index of
  /// the labels, see SharedInformerBase::DecodeSelected. kBadRequest, which names the field, when a
  /// field selector has a field that is neither "metadata.name" nor "metadata.namespace" nor the
  /// name of an index of the informer. Other errors are those of the other List.
  apimachinery::Result<std::vector<Ref<T>>> List(const Selection& selection) const {
    std::vector<Ref<T>> out;
    KX_RETURN_IF_ERROR(informer_->DecodeSelected(
        selection, DecodeUntyped<T>,
        [&selection](const void* object) {
          return selection.labels.Matches(LabelsOf(*static_cast<const T*>(object)));
        },
        [&out](UntypedRef&& decoded) {
          out.push_back(std::static_pointer_cast<const T>(std::move(decoded)));
        }));
    return out;
  }

  /// Returns the objects that have all of `terms`, for example {{"namespace", "default"}, {"node",
  /// "n1"}}, in no particular order; decodes only these. Errors are those of List. kMalformed also
  /// names an object that cannot be decoded and for which an index function threw, because the
  /// object might have the terms. An object that can be decoded, but for which the function threw,
  /// counts as one without a value in that index, here and in List(selection): the function is at
  /// fault, and the log says so ("An indexer threw").
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
