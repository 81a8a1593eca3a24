#include "kubexx/reloader/ui/page_files.h"

namespace kubexx::reloader {

std::string_view ContentTypeOf(std::string_view path) {
  return path.ends_with(".html")  ? "text/html; charset=utf-8"
         : path.ends_with(".js")  ? "text/javascript; charset=utf-8"
         : path.ends_with(".css") ? "text/css; charset=utf-8"
         : path.ends_with(".svg") ? "image/svg+xml"
                                  : "text/plain; charset=utf-8";
}

}  // namespace kubexx::reloader
