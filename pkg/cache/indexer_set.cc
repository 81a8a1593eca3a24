#include "kubexx/cache/indexer_set.h"

#include <exception>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Indexers NamespaceIndexer() {
  Indexers indexers;
  indexers.emplace(kNamespaceIndex, [](const Object& object) {
    return std::vector<std::string>{object.key.namespace_};
  });
  return indexers;
}

Indexers Reading(Indexers indexers, UntypedDecoder decode) {
  for (auto& [name, function] : indexers) {
    function = [values = std::move(function), decode](const Object& object) {
      std::vector<std::string> found = values(object);
      if (found.empty()) {
        (void)decode(object).value();  // throws what the error says
      }
      return found;
    };
  }
  return indexers;
}

/// Numbers for names, given out once and for ever.
class IndexerSet::Names {
 public:
  std::optional<IndexId> Find(std::string_view name) const {
    base::MutexLock lock(mu_);
    const auto found = ids_.find(name);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Nothing when there are too many.
  std::optional<IndexId> FindOrAdd(std::string_view name) {
    base::MutexLock lock(mu_);
    if (const auto found = ids_.find(name); found != ids_.end()) {
      return found->second;
    }
    if (ids_.size() >= kMaxNames) {
      return std::nullopt;
    }
    const auto id = static_cast<IndexId>(ids_.size());
    ids_.emplace(name, id);
    return id;
  }

 private:
  mutable base::Mutex mu_;
  std::map<std::string, IndexId, std::less<>> ids_ KX_GUARDED_BY(mu_);
};

std::shared_ptr<const IndexerSet> IndexerSet::Empty() {
  auto set = std::make_shared<IndexerSet>();
  set->names_ = std::make_shared<Names>();
  return set;
}

Result<std::shared_ptr<IndexerSet>> IndexerSet::Next() const {
  if (version_ >= kMaxVersions) {
    return Fail(Reason::kInvalid, "indexers were added " + std::to_string(kMaxVersions) +
                                      " times; add several at once");
  }
  auto next = std::make_shared<IndexerSet>(*this);
  ++next->version_;
  return next;
}

Result<std::shared_ptr<const IndexerSet>> IndexerSet::With(Indexers indexers) const {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<IndexerSet> next, Next());
  for (auto& [name, function] : indexers) {
    if (named_.contains(name)) {
      return Fail(Reason::kAlreadyExists, "there is an index \"" + name + "\" already");
    }
    if (!names_->FindOrAdd(name)) {
      return Fail(Reason::kInvalid, "too many indexes; at most " + std::to_string(kMaxNames));
    }
    next->named_.emplace(name, std::move(function));
  }
  return next;
}

Result<std::shared_ptr<const IndexerSet>> IndexerSet::With(TermsFunc terms) const {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<IndexerSet> next, Next());
  next->free_.push_back(std::move(terms));
  return next;
}

void IndexerSet::Append(std::string_view index, std::string_view value, const Object& object,
                        std::string& out) const {
  const auto id = names_->FindOrAdd(index);
  const Result<void> result =
      id ? EncodedTerms::Append(*id, value, out) : Fail(Reason::kInvalid, "too many indexes");
  if (!result) {
    logging::Error("an object is left out of an index",
                   {{"index", index}, {"key", object.key.ToString()}, {"error", result.error()}});
  }
}

std::string IndexerSet::Encode(const Object& object) const {
  std::string out;
  std::string_view error;
  std::string what;
  const auto run = [&](std::string_view unread, auto&& function) {
    try {
      function();
    } catch (const std::exception& e) {
      what = e.what();
      error = what;
    } catch (...) {
      error = "unknown exception";
    }
    if (!error.empty()) {
      logging::Error("an indexer threw", {{"key", object.key.ToString()}, {"error", error}});
      error = {};
      (void)EncodedTerms::Append(kUnreadIndex, unread, out);  // short enough
    }
  };
  for (const auto& [name, function] : named_) {
    const std::string unread(1, static_cast<char>(names_->FindOrAdd(name).value_or(kUnreadIndex)));
    run(unread, [&, &index = name, &values = function] {
      for (const std::string& value : values(object)) {
        Append(index, value, object, out);
      }
    });
  }
  for (const TermsFunc& function : free_) {
    run({}, [&] {
      for (const auto& [index, value] : function(object)) {
        Append(index, value, object, out);
      }
    });
  }
  return out;
}

std::optional<IndexId> IndexerSet::Find(std::string_view index) const {
  return names_->Find(index);
}

}  // namespace kubexx::cache
