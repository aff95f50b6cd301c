// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Has the write-ahead log of an SQLite database lost changes that were acknowledged to clients?
//
// SQLite reads a write-ahead log up to the first frame (a database page with a header) with a wrong
// checksum, and takes the rest of the log for a write that a power cut interrupted. SQLite treats a
// frame that was damaged later in the same way, although acknowledged changes may follow that
// frame. The data after the wrong frame distinguishes the two cases.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace carom::server {

// Reads the log at `path` as SQLite does (www.sqlite.org/fileformat.html, section 4), before SQLite
// opens it. OK if no log exists. INTERNAL, with a message of one line, if flipping one bit makes
// the first wrong checksum right, or if complete transactions follow the frame (a database page
// with a header) that has the first wrong checksum: SQLite syncs each transaction before it writes
// the next one, so a power cut damages only the last transaction. Does not find damage of several
// bits in the last transaction.
//
// Takes as long as SQLite's own reading of the log, and about 100 ms more if a checksum is wrong.
absl::Status CheckLog(const std::string& path);

}  // namespace carom::server
