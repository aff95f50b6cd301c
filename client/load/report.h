// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Formats the report of a run as text, as JSON and as a picture.
#pragma once

#include <string>

#include "client/load/load.h"

namespace carom::load {

// Returns a table of text, with one line per subject, such as latency.
std::string ReportText(const LoadReport& report);

// Returns one JSON object whose names end with their units. Unknown figures are null.
std::string ReportJson(const LoadReport& report);

// Returns an SVG picture of latency over percentiles of frames. The x axis shows 0 %, 90 %, 99 %
// and so on at equal distances.
std::string ReportPlot(const LoadReport& report);

}  // namespace carom::load
