#include "kubexx/cache/indexer_set.h"

#include <algorithm>
#include <utility>

#include "kubexx/apimachinery/thrown_text.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

namespace {

// Appends the mark that an index lacks the object. `index` is the number of that index; if it is
// empty, any index may lack it.
void AppendUnread(std::string_view index, std::string& out) {
  (void)EncodedTerms::Append(kUnreadIndex, index, out);  // cannot fail: the term is short enough
}

}  // namespace

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
        (void)decode(object).value();  // throws an exception with the message of the error
      }
      return found;
    };
  }
  return indexers;
}

/// Gives names their numbers, which never change, and limits the log for all versions of the set: a
/// faulty function may fail for each of a hundred thousand objects, at each relist.
class IndexerSet::Names {
 public:
  /// Returns nothing when only functions that were added after `version` have used the name.
  std::optional<IndexId> Find(std::string_view name, std::uint8_t version) const {
    base::MutexLock lock(mu_);
    const auto found = names_.find(name);
    return found == names_.end() || found->second.since > version ? std::nullopt
                                                                  : std::optional(found->second.id);
  }

  /// Finds or makes the number for a function that was added in `version`. Returns nothing when
  /// there are too many names.
  std::optional<IndexId> FindOrAdd(std::string_view name, std::uint8_t version) {
    base::MutexLock lock(mu_);
    if (const auto found = names_.find(name); found != names_.end()) {
      found->second.since = std::min(found->second.since, version);
      return found->second.id;
    }
    if (names_.size() >= kMaxNames) {
      return std::nullopt;
    }
    const auto id = static_cast<IndexId>(names_.size());
    names_.emplace(name, Name{.id = id, .since = version});
    return id;
  }

  /// `index` is empty when the function returns terms of several indexes.
  void ReportThrow(std::string_view index, const Object& object, std::string_view error) {
    if (const auto others = throw_lines_.Admit()) {
      logging::Error("An indexer threw", {{"index", index},
                                          {"key", object.key.ToString()},
                                          {"error", error},
                                          {"others", *others}});
    }
  }
  void ReportLeftOut(std::string_view index, const Object& object,
                     const apimachinery::Status& why) {
    if (const auto others = left_out_lines_.Admit()) {
      logging::Error(
          "An object is left out of an index",
          {{"index", index}, {"key", object.key.ToString()}, {"error", why}, {"others", *others}});
    }
  }

 private:
  struct Name {
    IndexId id = 0;
    std::uint8_t since = 0;  ///< the lowest version of a function that uses it
  };

  base::ReportLimit throw_lines_{base::Clock::Real()};
  base::ReportLimit left_out_lines_{base::Clock::Real()};
  mutable base::Mutex mu_;
  std::map<std::string, Name, std::less<>> names_ KX_GUARDED_BY(mu_);
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
    const std::optional<IndexId> id = names_->FindOrAdd(name, next->version_);
    if (!id) {
      return Fail(Reason::kInvalid, "too many indexes; at most " + std::to_string(kMaxNames));
    }
    next->named_.emplace(name, Named{.values = std::move(function), .id = *id});
  }
  return next;
}

Result<std::shared_ptr<const IndexerSet>> IndexerSet::With(TermsFunc terms) const {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<IndexerSet> next, Next());
  next->free_.push_back({.version = next->version_, .terms = std::move(terms)});
  return next;
}

void IndexerSet::Append(IndexId id, std::string_view index, std::string_view value,
                        const Object& object, std::string& out) const {
  if (const Result<void> result = EncodedTerms::Append(id, value, out); !result) {
    names_->ReportLeftOut(index, object, result.error());
    // Without this mark, queries would find the object as one without a value.
    AppendUnread(std::string(1, static_cast<char>(id)), out);
  }
}

void IndexerSet::AppendFree(std::string_view index, std::string_view value, std::uint8_t version,
                            const Object& object, std::string& out) const {
  if (const auto id = names_->FindOrAdd(index, version)) {
    Append(*id, index, value, object, out);
  } else {
    names_->ReportLeftOut(index, object, Fail(Reason::kInvalid, "too many indexes").error());
  }
}

std::string IndexerSet::Encode(const Object& object) const {
  std::string out;
  const auto run = [&](std::string_view index, std::string_view unread, auto&& function) {
    try {
      function();
    } catch (...) {
      names_->ReportThrow(index, object, apimachinery::ThrownText());
      AppendUnread(unread, out);
    }
  };
  for (const auto& [name, function] : named_) {
    run(name, std::string_view(reinterpret_cast<const char*>(&function.id), 1),
        [&, &index = name, &named = function] {
          for (const std::string& value : named.values(object)) {
            Append(named.id, index, value, object, out);
          }
        });
  }
  for (const Free& function : free_) {
    run("", "", [&] {
      for (const auto& [index, value] : function.terms(object)) {
        AppendFree(index, value, function.version, object, out);
      }
    });
  }
  return out;
}

std::optional<IndexId> IndexerSet::Find(std::string_view index) const {
  return names_->Find(index, version_);
}

}  // namespace kubexx::cache
