/// @file
/// ConfigMaps and Secrets as a file describes them, to find out what they would change.
#ifndef KUBEXX_RELOADER_MODEL_CHANGED_SOURCES_H_
#define KUBEXX_RELOADER_MODEL_CHANGED_SOURCES_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/value_digests.h"

namespace kubexx::reloader {

/// An object of a file. It may contain values of a Secret.
struct DescribedSource {
  SourceId id{};
  codec::JsonTree object{};
};

/// What a file describes.
struct DescribedSources {
  std::vector<DescribedSource> sources{};
  /// The other objects, as "Deployment shop/web".
  std::vector<std::string> others{};
};

/// A file, or another input, and what it is called.
struct InputText {
  std::string name{};
  std::string text{};
};

/// Reads YAML or JSON of any number of documents, also Lists. `namespace_` is that of objects that
/// name none. Fails with kInvalidConfig, and a message that names the input and the document and
/// never a value, when a text is malformed, an object has no kind or name, or a source is described
/// twice, in one input or in two.
apimachinery::Result<DescribedSources> ReadSources(std::span<const InputText> inputs,
                                                   const std::string& namespace_);

/// A source as it would be after a change.
struct ChangedSource {
  Source source{};      ///< as an informer would store it: its digest covers all data
  ValueDigests data{};  ///< of the same data
};
/// By their ids.
using ChangedSources = std::map<SourceId, ChangedSource>;

/// The source that `described` makes: its data alone count, as if it replaced what is there, while
/// annotations that it does not name stay as they are. `present`: the annotations that the source
/// has at present. `now`: when the change would be written. Fails with kInvalidConfig when the
/// object is not a ConfigMap or Secret that the API server takes: also when it has too much data,
/// or one key twice. Nothing of the data but digests is kept.
apimachinery::Result<ChangedSource> ChangedSourceOf(const DescribedSource& described,
                                                    const Annotations& present,
                                                    const AnnotationKeys& keys,
                                                    const apimachinery::Time& now);

/// The names of keys whose values differ.
struct ChangedKeys {
  std::vector<std::string> added{};
  std::vector<std::string> changed{};
  std::vector<std::string> removed{};
  bool empty() const { return added.empty() && changed.empty() && removed.empty(); }
};
/// Compares the data of a source before and after a change.
ChangedKeys CompareKeys(const ValueDigests& before, const ValueDigests& after);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_CHANGED_SOURCES_H_
