#include "kubexx/reloadpolicy/rolled_data.h"

#include <algorithm>
#include <utility>

namespace kubexx::reloadpolicy {
namespace {

constexpr std::pair<DataState, std::string_view> kDataStates[] = {
    {DataState::kRolled, "rolled"},
    {DataState::kFailed, "failed"},
    {DataState::kReleased, "released"}};

/// Takes the text up to the next space off the front of `text`.
std::string_view TakeWord(std::string_view& text) {
  const std::size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  return word;
}

}  // namespace

std::string DataVersion(const ObjectRef& source, std::string_view digest) {
  return source.kind + "/" + source.key.name + "=" + std::string(digest);
}

std::optional<DataVersionParts> PartsOf(std::string_view version) {
  const std::size_t slash = version.find('/');
  const std::size_t equals = version.find('=');
  if (slash == std::string_view::npos || equals == std::string_view::npos || equals < slash) {
    return std::nullopt;
  }
  return DataVersionParts{.kind = version.substr(0, slash),
                          .name = version.substr(slash + 1, equals - slash - 1),
                          .digest = version.substr(equals + 1)};
}

std::string TextOf(const RolledData& data, std::string_view uid) {
  std::string text;
  for (const auto& [state, name] : kDataStates) {
    if (state == data.state) {
      text = name;
    }
  }
  text += ' ';
  text += uid;
  for (std::size_t i = 0; i < std::min(data.versions.size(), kMaxDataVersions); ++i) {
    text += ' ' + data.versions[i];
  }
  return text;
}

std::optional<RolledData> RolledDataOf(const Annotations& annotations, std::string_view uid) {
  const auto found = annotations.find(std::string(kRolledDataAnnotation));
  if (found == annotations.end()) {
    return std::nullopt;
  }
  std::string_view text = found->second;
  const std::string_view name = TakeWord(text);
  const auto* const state =
      std::ranges::find(kDataStates, name, &std::pair<DataState, std::string_view>::second);
  if (state == std::end(kDataStates) || TakeWord(text) != uid) {
    return std::nullopt;
  }
  RolledData data{.state = state->first};
  while (!text.empty() && data.versions.size() < kMaxDataVersions) {
    const std::string_view version = TakeWord(text);
    if (version.find('=') == std::string_view::npos) {
      return std::nullopt;
    }
    data.versions.emplace_back(version);
  }
  return data.versions.empty() ? std::nullopt : std::optional(std::move(data));
}

bool WasRolledFor(const std::string& version, const Annotations& annotations,
                  std::string_view uid) {
  const auto data = RolledDataOf(annotations, uid);
  return data && std::ranges::find(data->versions, version) != data->versions.end();
}

bool HaveInCommon(const DataVersions& one, const DataVersions& other) {
  return std::ranges::find_first_of(one, other) != one.end();
}

bool HasAllOf(const DataVersions& versions, const DataVersions& others) {
  return std::ranges::all_of(others, [&versions](const std::string& other) {
    return std::ranges::find(versions, other) != versions.end();
  });
}

}  // namespace kubexx::reloadpolicy
