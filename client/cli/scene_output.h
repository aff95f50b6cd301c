// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In which form does a command write a scene to a file?
//
// `OutputFormat` chooses the form by a flag or by the suffix of the file, and `WriteSource` writes
// it. JSON and GeoJSON keep the mapping of the import; bundles and pictures have no place for it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "client/cli/scene/source.h"

namespace carom::cli {

// Returns `format` unless it is empty; else `json`, `geojson`, `bundle` or `svg` by the suffix of
// the file `output`, and `json` for standard output (`-`). Returns "" for any other suffix.
std::string OutputFormat(const std::string& format, const std::string& output);

// Writes a scene to a file, or to standard output (`-`), and takes its polygons. Errors: UNKNOWN if
// it cannot be written; those of `Scene::Create` and `SaveBundle`.
absl::Status WriteSource(SourceScene source, const std::string& format, const std::string& output);

// Writes a scene in place of the file `path`, in the format of Carom that the file has: readers
// find either the old file or the new one. Errors: those of `WriteSource`.
absl::Status ReplaceSource(SourceScene source, const std::string& format, const std::string& path);

}  // namespace carom::cli
