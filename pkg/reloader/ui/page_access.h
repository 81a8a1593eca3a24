/// @file
/// Who may see the page.
#ifndef KUBEXX_RELOADER_UI_PAGE_ACCESS_H_
#define KUBEXX_RELOADER_UI_PAGE_ACCESS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"

namespace kubexx::reloader {

/// Decides who may see the page. PageServer asks it about every request but those for its health.
/// Implementations are thread-safe.
class PageAccess {
 public:
  PageAccess() = default;
  virtual ~PageAccess() = default;
  PageAccess(const PageAccess&) = delete;
  PageAccess& operator=(const PageAccess&) = delete;

  /// The port on which the server listens. The server calls it before it answers.
  virtual void SetPort(std::uint16_t /*port*/) {}
  /// See http::Server::Options::admit: a name for who may see the page as far as is known without
  /// waiting; std::nullopt for everybody else. All requests of one person have the same name, by
  /// which people share what there is.
  virtual std::optional<std::string> ClientOf(const http::Request& header) const = 0;
  /// The answer to who may not see what the request asks for, and to requests of the way in.
  /// std::nullopt: the page answers. May wait until the request's deadline.
  virtual std::optional<http::Response> Answer(const http::Request& request) = 0;
  /// How long a stream of events may last before its client has to ask again, and so to show again
  /// that it may see the page. std::nullopt: as long as it likes.
  virtual std::optional<base::Duration> stream_age() const { return std::nullopt; }
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_PAGE_ACCESS_H_
