#include "kubexx/cache/internal/packed/label_index.h"

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "kubexx/codec/object_meta.h"

namespace kubexx::cache {
namespace {

// Neither a key nor a value can have this character, so a term has only one meaning.
constexpr char kBetweenKeyAndValue = '\0';
// The size at which EncodedTerms cuts a value.
constexpr std::size_t kMaxLabelTerm = 65534;

}  // namespace

std::string LabelTerm(std::string_view key, std::string_view value) {
  std::string term;
  term.reserve(key.size() + 1 + value.size());
  term.append(key).push_back(kBetweenKeyAndValue);
  return term.append(value);
}

Indexers LabelIndexer() {
  Indexers indexers;
  indexers.emplace(kLabelIndex, [](const Object& object) {
    const auto labels = codec::ScanLabels(object.encoding, object.bytes);
    if (!labels) {
      throw std::runtime_error(labels.error().ToString());
    }
    std::vector<std::string> terms;
    terms.reserve(labels->size());
    for (const auto& [key, value] : *labels) {
      terms.push_back(LabelTerm(key, value));
      if (terms.back().size() > kMaxLabelTerm) {
        throw std::length_error("a label is too long for the index");
      }
    }
    return terms;
  });
  return indexers;
}

std::optional<std::string_view> LabelIn(const EncodedTerms& terms, IndexId index,
                                        std::string_view key) {
  for (std::string_view term : terms) {
    if (term.size() <= key.size() + 1 || static_cast<IndexId>(term.front()) != index) {
      continue;
    }
    term.remove_prefix(1);
    if (term.starts_with(key) && term[key.size()] == kBetweenKeyAndValue) {
      return term.substr(key.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace kubexx::cache
