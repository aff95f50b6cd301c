// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the command line say how a map is read, and report how it was read?
//
// Every command that reads a map has the flags of `AddMapOptions`, in a group of their own, and
// prints the report of `PrintReport`, or has the members of `ReportMembers` in its answer.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/maps/map_import.h"

namespace CLI {
class App;
}  // namespace CLI

namespace carom::cli {

// Adds the flags `--scale`, `--flip-y`, `--no-flip-y`, `--origin`, `--layer`, `--property`,
// `--chord`, `--outline` and `--merge`. A malformed value is an error of the command line that
// names its flag.
void AddMapOptions(CLI::App& command, ImportOptions& options);

// Reads the value of `--layer`: NAME, NAME=CATEGORY, NAME=USE or NAME=CATEGORY,USE, where CATEGORY
// is an unsigned 64-bit integer and USE is `solid`, `hollow` or `skip`. The name ends at the last
// `=`. INVALID_ARGUMENT says what is wrong with it.
absl::StatusOr<LayerChoice> ReadLayer(std::string_view text);

// Writes the mapping of a map, and a warning for each part that was skipped, to standard error:
// at most 16 of them, and the number of the others. Writes nothing about a map that was taken as it
// is. Control characters of names become `?`.
void PrintReport(std::string_view file, const ImportedMap& map);

// Returns INVALID_ARGUMENT that lists the parts that were skipped; OK if there are none.
absl::Status SkippedStatus(const ImportedMap& map);

// Returns the JSON object {"format": …, "scale": …} of the mapping, with the mapping that the file
// keeps as the member `from`; for a map that was taken as it is, the mapping that it keeps, or "".
std::string MappingObject(const ImportedMap& map);

// Returns the mapping as the note that a scene keeps (`CallOptions::note`): `MappingObject`, or an
// empty text for a mapping that is too long for a note.
std::string NoteOf(const ImportedMap& map);

// Returns the JSON text of the members `mapping` and `skipped`, each after a comma; "" for a map
// that was taken as it is.
std::string ReportMembers(const ImportedMap& map);

}  // namespace carom::cli
