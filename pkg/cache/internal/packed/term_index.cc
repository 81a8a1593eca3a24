#include "kubexx/cache/internal/packed/term_index.h"

#include <algorithm>
#include <utility>

namespace kubexx::cache {
namespace {

/// Tells whether terms are among those of an entry. When an entry has many terms they are sorted
/// first, because an object may have tens of thousands of labels, and the caller holds the store's
/// lock.
class TermsOfEntry {
 public:
  explicit TermsOfEntry(const Entry& entry) : terms_(entry.terms()) {
    if (entry.encoded_terms().size() > kFewBytes) {
      for (const std::string_view term : terms_) {
        sorted_.push_back(term);
      }
      std::ranges::sort(sorted_);
    }
  }

  bool Contains(std::string_view term) const {
    return sorted_.empty() ? terms_.Contains(term) : std::ranges::binary_search(sorted_, term);
  }

 private:
  static constexpr std::size_t kFewBytes = 1024;

  EncodedTerms terms_;
  std::vector<std::string_view> sorted_{};
};

}  // namespace

void TermIndex::Put(const EntryRef& entry, const Entry* old) {
  if (old != nullptr && old->encoded_terms() != entry->encoded_terms()) {
    const TermsOfEntry now(*entry);
    for (const std::string_view term : old->terms()) {
      if (!now.Contains(term)) {
        Drop(term, *old);
      }
    }
  }
  for (const std::string_view term : entry->terms()) {
    auto found = postings_.find(term);
    if (found == postings_.end()) {
      found = postings_.emplace(std::string(term), EntryTable()).first;
    }
    found->second.Insert(entry);
  }
}

void TermIndex::Remove(const Entry& entry) {
  for (const std::string_view term : entry.terms()) {
    Drop(term, entry);
  }
}

void TermIndex::Drop(std::string_view term, const Entry& entry) {
  const auto found = postings_.find(term);
  if (found == postings_.end()) {
    return;
  }
  found->second.Erase(entry.namespace_(), entry.name());
  if (found->second.empty()) {
    postings_.erase(found);
  }
}

const EntryTable* TermIndex::Find(std::string_view term) const {
  const auto found = postings_.find(term);
  return found == postings_.end() ? nullptr : &found->second;
}

std::vector<EntryRef> TermIndex::FindAll(const std::vector<std::string>& terms) const {
  std::vector<const EntryTable*> tables;
  for (const std::string& term : terms) {
    tables.push_back(Find(term));
    if (tables.back() == nullptr) {
      return {};
    }
  }
  if (tables.empty()) {
    return {};
  }
  std::ranges::sort(tables, {}, &EntryTable::size);
  std::vector<EntryRef> out;
  tables.front()->ForEach([&tables, &out](const EntryRef& entry) {
    if (std::all_of(tables.begin() + 1, tables.end(),
                    [&entry](const EntryTable* table) { return table->Has(*entry); })) {
      out.push_back(entry);
    }
  });
  return out;
}

std::vector<std::string> TermIndex::Values(IndexId index) const {
  std::vector<std::string> values;
  for (const auto& [term, entries] : postings_) {
    if (static_cast<IndexId>(term.front()) == index) {
      values.push_back(term.substr(1));
    }
  }
  return values;
}

}  // namespace kubexx::cache
