#include "kubexx/reloadpolicy/time_zone.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <algorithm>

#include "kubexx/base/ascii.h"
#include "kubexx/reloadpolicy/internal/quoted.h"

namespace kubexx::reloadpolicy {
namespace {

// A name is a path below the database. No other file may be opened with it.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '/' && name.front() != '-' &&
         name.find("..") == std::string_view::npos && std::ranges::all_of(name, [](char c) {
           return base::IsAlphanumeric(c) || c == '_' || c == '-' || c == '+' || c == '/';
         });
}

constexpr absl::CivilSecond kEpoch(1970, 1, 1);

base::WallTime WallOf(absl::Time time) {
  return base::WallTime(std::chrono::seconds(absl::ToUnixSeconds(time)));
}

}  // namespace

struct TimeZone::Rules {
  absl::TimeZone zone = absl::UTCTimeZone();
};

TimeZone::TimeZone() : rules_(std::make_shared<const Rules>()) {}

apimachinery::Result<TimeZone> TimeZone::Load(std::string_view name) {
  TimeZone result;
  if (name.empty() || name == "UTC") {
    return result;
  }
  Rules rules;
  if (!IsName(name) ||
      !absl::LoadTimeZone(absl::string_view(name.data(), name.size()), &rules.zone)) {
    return apimachinery::Fail(apimachinery::Reason::kInvalidConfig,
                              internal::Quoted(name) +
                                  " is not a time zone of the system's database; "
                                  "give an IANA name such as Europe/Berlin");
  }
  result.name_ = name;
  result.rules_ = std::make_shared<const Rules>(rules);
  return result;
}

LocalTime TimeZone::ToLocal(base::WallTime time) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  const absl::CivilSecond civil = rules_->zone.At(absl::FromUnixSeconds(seconds)).cs;
  return LocalTime(std::chrono::seconds(civil - kEpoch));
}

Moments TimeZone::FromLocal(LocalTime time) const {
  using Kind = absl::TimeZone::TimeInfo::CivilKind;
  const absl::TimeZone::TimeInfo info = rules_->zone.At(kEpoch + time.time_since_epoch().count());
  switch (info.kind) {
    case Kind::SKIPPED:
      return {.first = WallOf(info.trans), .second = WallOf(info.trans), .skipped = true};
    case Kind::REPEATED:
      return {.first = WallOf(info.pre), .second = WallOf(info.post), .twice = true};
    case Kind::UNIQUE:
      break;
  }
  return {.first = WallOf(info.pre), .second = WallOf(info.pre)};
}

}  // namespace kubexx::reloadpolicy
