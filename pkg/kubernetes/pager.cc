#include "kubexx/kubernetes/pager.h"

#include <algorithm>
#include <utility>

namespace kubexx::kubernetes {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;

PageCursor::PageCursor(ListOptions options, PagerOptions pager)
    : whole_(options),
      options_(std::move(options)),
      full_list_if_expired_(pager.full_list_if_expired) {
  if (options_.limit == 0) {
    options_.limit = std::max<std::int64_t>(pager.page_size, 0);
  }
  whole_.limit = 0;
  whole_.continue_.clear();
}

Result<codec::ListMeta> PageCursor::Next(ListFunction list) {
  auto page = list(options_);
  if (!page && full_list_if_expired_ && !options_.continue_.empty() &&
      apimachinery::IsExpired(page.error())) {
    begins_anew_ = true;
    ended_ = true;
    return list(whole_);
  }
  ended_ = !page || page->continue_.empty();
  if (ended_) {
    return page;
  }
  if (page->continue_ == options_.continue_) {  // or the range would have no end
    ended_ = true;
    return Fail(Reason::kInternalError,
                "list: the server answered a continue token with the same token again");
  }
  options_.continue_ = page->continue_;
  // The token carries the version; naming one beside it is an error.
  options_.resource_version.clear();
  options_.resource_version_match.clear();
  return page;
}

}  // namespace kubexx::kubernetes
