#include "kubexx/cache/internal/packed/select_entries.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "kubexx/cache/internal/packed/label_index.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::FieldRequirement;
using apimachinery::LabelRequirement;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Selection;
using apimachinery::SelectorOperator;

constexpr std::string_view kNameField = "metadata.name";
constexpr std::string_view kNamespaceField = "metadata.namespace";

// Whether an entry is selected, as far as its terms tell.
enum class Verdict : std::uint8_t {
  kNo,
  kUnread,  ///< no, unless it cannot be decoded
  kYes,     ///< or only the decoded object can tell
};

/// A requirement of a field selector, and the index that has the field's values. There is no index
/// when the field is a part of the key.
struct FieldTest {
  const FieldRequirement& requirement;
  std::optional<IndexId> index{};
};

// The term of entries for which the function of `index` threw.
std::string UnreadTerm(IndexId index) {
  return EncodeTerm(kUnreadIndex, std::string(1, static_cast<char>(index)));
}

bool RequiresValue(const LabelRequirement& requirement) {
  return requirement.op == SelectorOperator::kEquals || requirement.op == SelectorOperator::kIn;
}

/// Answers one query of a store.
class EntrySelector {
 public:
  EntrySelector(const PackedStore& store, const Selection& selection, bool labels_indexed)
      : store_(store),
        selection_(selection),
        namespace_(selection.SelectedNamespace()),
        indexers_(store.whole_indexers()) {
    if (labels_indexed && !selection.labels.empty()) {
      labels_ = indexers_->Find(kLabelIndex);
    }
  }

  Result<SelectedEntries> Run() {
    KX_RETURN_IF_ERROR(PrepareFields());
    SelectedEntries out;
    for (EntryRef& entry : Candidates()) {
      switch (Judge(*entry)) {
        case Verdict::kNo:
          break;
        case Verdict::kUnread:
          out.unread.push_back(std::move(entry));
          break;
        case Verdict::kYes:
          out.matching.push_back(std::move(entry));
          break;
      }
    }
    return out;
  }

 private:
  Result<void> PrepareFields() {
    for (const FieldRequirement& requirement : selection_.fields.requirements()) {
      FieldTest test{.requirement = requirement};
      if (requirement.field != kNameField && requirement.field != kNamespaceField) {
        if (!indexers_->IsNamed(requirement.field)) {
          return Fail(Reason::kBadRequest,
                      "the cache has no index of the field \"" + requirement.field +
                          "\": add one to the informer with AddIndexers(IndexField<T>(...))");
        }
        test.index = indexers_->Find(requirement.field);
      }
      fields_.push_back(test);
    }
    return {};
  }

  // Returns the terms that every selected entry has.
  IndexTerms RequiredTerms() const {
    IndexTerms terms;
    if (labels_) {
      for (const LabelRequirement& each : selection_.labels.requirements()) {
        if (RequiresValue(each) && each.values.size() == 1) {
          terms.emplace_back(kLabelIndex, LabelTerm(each.key, each.values.front()));
        }
      }
    }
    for (const FieldTest& test : fields_) {
      if (test.index && test.requirement.equal && !test.requirement.value.empty()) {
        terms.emplace_back(test.requirement.field, test.requirement.value);
      }
    }
    return terms;
  }

  // Returns the selected entries and some others: as few as the indexes allow without much work.
  std::vector<EntryRef> Candidates() const {
    if (const std::string name = selection_.fields.Exactly(kNameField);
        !name.empty() && !namespace_.empty()) {
      EntryRef entry = store_.Find(namespace_, name);
      return entry ? std::vector{std::move(entry)} : std::vector<EntryRef>();
    }
    IndexTerms terms = RequiredTerms();
    const LabelRequirement* one_of = terms.empty() ? FirstSet() : nullptr;
    if (terms.empty() && one_of == nullptr) {
      return namespace_.empty() ? store_.Entries() : store_.EntriesIn(namespace_);
    }
    if (!namespace_.empty() && indexers_->IsNamed(kNamespaceIndex)) {
      terms.emplace_back(kNamespaceIndex, namespace_);
    }
    std::vector<IndexTerms> alternatives;
    if (one_of == nullptr) {
      alternatives.push_back(std::move(terms));
    } else {
      for (const std::string& value : one_of->values) {
        alternatives.push_back(terms);
        alternatives.back().emplace_back(kLabelIndex, LabelTerm(one_of->key, value));
      }
    }
    return store_.EntriesByAnyOf(alternatives);
  }

  // Returns the first requirement by which a label has one of several values.
  const LabelRequirement* FirstSet() const {
    const auto& requirements = selection_.labels.requirements();
    const auto found = std::ranges::find_if(requirements, RequiresValue);
    return labels_ && found != requirements.end() ? &*found : nullptr;
  }

  Verdict Judge(const Entry& entry) const {
    if (!namespace_.empty() && entry.namespace_() != namespace_) {
      return Verdict::kNo;
    }
    Verdict verdict = Verdict::kYes;
    for (const FieldTest& test : fields_) {
      verdict = std::min(verdict, JudgeField(entry, test));
    }
    return verdict == Verdict::kNo || !labels_ || HasLabels(entry) ? verdict : Verdict::kNo;
  }

  static Verdict JudgeField(const Entry& entry, const FieldTest& test) {
    const FieldRequirement& wanted = test.requirement;
    if (!test.index) {
      const std::string_view value = wanted.field == kNameField ? entry.name() : entry.namespace_();
      return wanted.Admits(value) ? Verdict::kYes : Verdict::kNo;
    }
    bool found = false;
    bool none = true;
    for (const std::string_view term : entry.terms()) {
      if (static_cast<IndexId>(term.front()) == *test.index) {
        none = false;
        found = found || term.substr(1) == wanted.value;
      }
    }
    if (none && entry.terms().Contains(UnreadTerm(*test.index))) {
      // The value is unknown, so it equals no value that can be asked for, not even "".
      return wanted.equal ? Verdict::kUnread : Verdict::kYes;
    }
    found = found || (none && wanted.value.empty());
    return found == wanted.equal ? Verdict::kYes : Verdict::kNo;
  }

  // Returns true also when only the decoded object can tell.
  bool HasLabels(const Entry& entry) const {
    const EncodedTerms terms = entry.terms();
    return std::ranges::all_of(selection_.labels.requirements(),
                               [&](const LabelRequirement& each) {
                                 return each.Admits(LabelIn(terms, *labels_, each.key));
                               }) ||
           terms.Contains(UnreadTerm(*labels_));
  }

  const PackedStore& store_;
  const Selection& selection_;
  const std::string namespace_;
  const std::shared_ptr<const IndexerSet> indexers_;
  /// The number of kLabelIndex. It is set when the query uses that index.
  std::optional<IndexId> labels_{};
  std::vector<FieldTest> fields_{};
};

}  // namespace

Result<SelectedEntries> SelectEntries(const PackedStore& store, const Selection& selection,
                                      bool labels_indexed) {
  return EntrySelector(store, selection, labels_indexed).Run();
}

}  // namespace kubexx::cache
