/// @file
/// The verbs that a resource supports.
#ifndef KUBEXX_APISERVER_OBJECT_VERBS_H_
#define KUBEXX_APISERVER_OBJECT_VERBS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::apiserver {

/// A verb of the API. In alphabetical order.
enum class Verb : std::uint8_t {
  kCreate,
  kDelete,
  kDeleteCollection,
  kGet,
  kList,
  kPatch,
  kUpdate,
  kWatch,
};

/// The verb of that name; std::nullopt when there is none.
std::optional<Verb> VerbOf(std::string_view name);

/// A set of verbs.
class Verbs {
 public:
  constexpr Verbs() = default;
  constexpr Verbs(std::initializer_list<Verb> verbs) {
    for (const Verb verb : verbs) {
      bits_ = static_cast<std::uint8_t>(bits_ | BitOf(verb));
    }
  }

  constexpr bool Has(Verb verb) const { return (bits_ & BitOf(verb)) != 0; }
  /// The names of the verbs in alphabetical order, as discovery lists them.
  std::vector<std::string> Names() const;

  bool operator==(const Verbs&) const = default;

 private:
  static constexpr unsigned BitOf(Verb verb) { return 1U << static_cast<unsigned>(verb); }

  std::uint8_t bits_ = 0;
};

/// The verbs of most resources.
inline constexpr Verbs kAllVerbs{Verb::kCreate, Verb::kDelete, Verb::kDeleteCollection,
                                 Verb::kGet,    Verb::kList,   Verb::kPatch,
                                 Verb::kUpdate, Verb::kWatch};
/// The verbs of objects that clients post and that the server answers but does not store.
inline constexpr Verbs kPosted{Verb::kCreate};
/// The verbs of most subresources that are a part of an object.
inline constexpr Verbs kReadAndWritten{Verb::kGet, Verb::kPatch, Verb::kUpdate};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_VERBS_H_
