/// @file
/// What can be asked of a resource.
#ifndef KUBEXX_APISERVER_OBJECT_VERBS_H_
#define KUBEXX_APISERVER_OBJECT_VERBS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::apiserver {

/// One of them, in the order of their names.
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

/// Nothing for a word that is no verb of the API.
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
  /// Their names in alphabetical order, as discovery lists them.
  std::vector<std::string> Names() const;

  bool operator==(const Verbs&) const = default;

 private:
  static constexpr unsigned BitOf(Verb verb) { return 1U << static_cast<unsigned>(verb); }

  std::uint8_t bits_ = 0;
};

/// Those of most resources.
inline constexpr Verbs kAllVerbs{Verb::kCreate, Verb::kDelete, Verb::kDeleteCollection,
                                 Verb::kGet,    Verb::kList,   Verb::kPatch,
                                 Verb::kUpdate, Verb::kWatch};
/// Of what is sent, answered and not kept.
inline constexpr Verbs kPosted{Verb::kCreate};
/// Of a part of an object.
inline constexpr Verbs kReadAndWritten{Verb::kGet, Verb::kPatch, Verb::kUpdate};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_VERBS_H_
