// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Has the log of a database lost changes that were acknowledged?
//
// SQLite reads a log up to the first frame whose checksum is wrong, and takes what follows for a
// write that a power cut interrupted. One that was damaged later looks the same to it, and what
// follows was acknowledged. The two differ in what stands behind the damage.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace carom::server {

// Reads the log at `path` as SQLite would (www.sqlite.org/fileformat.html, section 4), before it
// does. OK without a log. INTERNAL, in one line, if the first wrong checksum is right once one bit
// is another one, or if whole transactions follow it: each is synced before the next is written, so
// a power cut spoils no more than the last. Damage of several bits in the last one is not found.
//
// Cost: as SQLite's own reading; some 100 ms once a checksum is wrong.
absl::Status CheckLog(const std::string& path);

}  // namespace carom::server
