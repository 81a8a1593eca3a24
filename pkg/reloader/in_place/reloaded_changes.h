/// @file
/// How the changes of a plan stand with a reload in place.
#ifndef KUBEXX_RELOADER_IN_PLACE_RELOADED_CHANGES_H_
#define KUBEXX_RELOADER_IN_PLACE_RELOADED_CHANGES_H_

#include <string>
#include <vector>

#include "kubexx/reloader/in_place/in_place_reloads.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// The causes of the changes with their present data. Pure, as all functions here.
ReloadedData DataOf(const std::vector<Change>& changes);

/// The changes as they are recorded while it is not known what the pods have.
std::vector<Change> WithUnknownData(std::vector<Change> changes);

/// What a mark says after the time of the data that the reload is for, so that another process sees
/// whether the sources have newer ones.
std::string MarkOf(const ReloadedData& data);

/// Whether the record says of all causes that the pods may have anything.
bool IsBegun(const Plan& plan, const Change& change);

/// Whether pods are being, or have been, reloaded for this change, by `report` or else by another
/// process, though maybe with other data.
bool IsUnderWay(const Plan& plan, const InPlaceReloads::Report& report, const Change& change);

/// Whether that is, or was, for these data: by `report`, or else by the mark of another process.
bool IsForData(const ReloadedData& data, const InPlaceReloads::Report& report,
               const Workload& workload);

/// Whether all of `data` are among `asked`, which a program was asked to take.
bool HasAll(const ReloadedData& asked, const ReloadedData& data);

/// Whether some of `data` are among `asked`.
bool HasSome(const ReloadedData& asked, const ReloadedData& data);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_RELOADED_CHANGES_H_
