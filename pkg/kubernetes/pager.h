/// @file
/// Pages: the pages of a list as a range.
#ifndef KUBEXX_KUBERNETES_PAGER_H_
#define KUBEXX_KUBERNETES_PAGER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/kubernetes/resource_client.h"

namespace kubexx::kubernetes {

/// Settings of Pages.
struct PagerOptions {
  /// The number of objects in a page, unless ListOptions::limit sets another one. 0 or less: the
  /// whole list is one page, as List returns it.
  std::int64_t page_size = 500;
  /// Whether the list is requested again as a whole when the server has forgotten its version
  /// between two pages (410 Expired, after some five minutes). When false, the range ends with that
  /// error.
  bool full_list_if_expired = true;
};

/// One page of a list.
template <class T>
struct ListPage {
  codec::ListMeta metadata{};
  std::vector<T> items{};
  /// Whether the list expired after the pages before this one. This page then has all objects of
  /// the list, in a newer state and including those that the earlier pages had, and is the last
  /// one. Whoever collects objects has to drop the earlier ones.
  bool begins_anew = false;
};

/// The part of Pages that does not depend on the type: which request comes next.
class PageCursor {
 public:
  using ListFunction = base::FunctionRef<apimachinery::Result<codec::ListMeta>(
      const apimachinery::ListOptions& options)>;

  PageCursor(apimachinery::ListOptions options, PagerOptions pager);

  /// Fetches the next page with `list`, which it calls once or, when the list has expired, twice.
  /// kInternalError when the server answers a continue token with the same token.
  apimachinery::Result<codec::ListMeta> Next(ListFunction list);
  /// Whether there is no further page.
  bool ended() const { return ended_; }
  /// Whether the last page was the list requested again.
  bool begins_anew() const { return begins_anew_; }

 private:
  apimachinery::ListOptions whole_;
  apimachinery::ListOptions options_;
  bool full_list_if_expired_;
  bool ended_ = false;
  bool begins_anew_ = false;
};

/// The pages of a list, each requested when the loop comes to it, so that the program holds one
/// page at a time. A C++20 input range of Result<ListPage<T>>. All pages are of one version of the
/// data. An error is the last element. As client-go's tools/pager.
///
///     const kubernetes::ResourceClient<Pod> pods(client, "");
///     for (auto& page : kubernetes::Pages(pods, {.label_selector = "app=web"})) {
///       if (!page) {
///         return page.error();
///       }
///       if (page->begins_anew) {
///         images.clear();
///       }
///       for (const Pod& pod : page->items) {
///         images.insert(pod.spec.containers.front().image);
///       }
///     }
///
/// A program can iterate over the range once. Not thread-safe; can be neither copied nor moved.
template <class T>
class Pages {
 public:
  using Page = apimachinery::Result<ListPage<T>>;
  /// Requests the one page that the options ask for; for clients of other types, for example those
  /// in kubexx/dynamic.
  using ListFunction =
      std::function<apimachinery::Result<ObjectList<T>>(const apimachinery::ListOptions&)>;

  /// `stop` ends the request for a page, and with it the range, with kCancelled.
  explicit Pages(ResourceClient<T> client, apimachinery::ListOptions options = {},
                 PagerOptions pager = {}, std::stop_token stop = {})
      : Pages([client = std::move(client), stop = std::move(stop)](
                  const apimachinery::ListOptions& page) { return client.List(page, stop); },
              std::move(options), pager) {}
  explicit Pages(ListFunction list, apimachinery::ListOptions options = {}, PagerOptions pager = {})
      : list_(std::move(list)), cursor_(std::move(options), pager) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  /// Refers to the range, which must outlive it.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Page;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(Pages& pages) : pages_(&pages) {}
    /// The page; it may be moved from, and is valid until the iterator is incremented.
    Page& operator*() const { return *pages_->page_; }
    Page* operator->() const { return &*pages_->page_; }
    Iterator& operator++() {
      pages_->Fetch();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !pages_->page_.has_value(); }

   private:
    Pages* pages_ = nullptr;
  };

  /// Requests the first page.
  Iterator begin() {
    if (!page_) {
      Fetch();
    }
    return Iterator(*this);
  }
  static std::default_sentinel_t end() { return {}; }

 private:
  void Fetch() {
    page_.reset();
    if (cursor_.ended()) {
      return;
    }
    std::vector<T> items;
    auto metadata = cursor_.Next(
        [&](const apimachinery::ListOptions& options) -> apimachinery::Result<codec::ListMeta> {
          KX_ASSIGN_OR_RETURN(ObjectList<T> list, list_(options));
          items = std::move(list.items);
          return std::move(list.metadata);
        });
    if (!metadata) {
      page_.emplace(apimachinery::Fail(metadata.error()));
      return;
    }
    page_.emplace(ListPage<T>{.metadata = *std::move(metadata),
                              .items = std::move(items),
                              .begins_anew = cursor_.begins_anew()});
  }

  const ListFunction list_;
  PageCursor cursor_;
  std::optional<Page> page_{};
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_PAGER_H_
