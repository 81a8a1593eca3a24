/// @file
/// Where a test finds what is not compiled into it: files of the source tree, and other programs.
#ifndef KUBEXX_BASE_TESTING_PLACES_PLACES_H_
#define KUBEXX_BASE_TESTING_PLACES_PLACES_H_

#include <filesystem>
#include <string_view>

namespace kubexx::base::testing {

/// The folder of the sources that this program was built from. For programs that link
/// kubexx_places. Thread-safe.
///
/// The path is compiled into one small source, and into no others: where a clone lies would
/// otherwise be among the flags of whatever reads a file of the tree, and the compiler cache
/// would know none of that in another clone.
std::filesystem::path SourceTree();

/// The program of that name that lies in the same folder as the running one, as all programs of a
/// build do. Nobody has looked whether it is there. Thread-safe.
std::filesystem::path ProgramBesideThis(std::string_view name);

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_PLACES_PLACES_H_
