/// @file
/// The files of the page, which are part of the program.
#ifndef KUBEXX_RELOADER_UI_PAGE_FILES_H_
#define KUBEXX_RELOADER_UI_PAGE_FILES_H_

#include <span>
#include <string_view>

namespace kubexx::reloader {

/// A file of the folder `page`.
struct PageFile {
  std::string_view path{};  ///< below the folder, such as "vendor/preact.gen.js"
  std::string_view bytes{};
};

/// All files, sorted by path. The build makes this function from the folder: see
/// cmake/kubexx_embed.cmake.
std::span<const PageFile> PageFiles();

/// The media type that a file's name stands for.
std::string_view ContentTypeOf(std::string_view path);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_PAGE_FILES_H_
