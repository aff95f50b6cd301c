// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Formats the report of a run as text, as JSON and as a picture.
#pragma once

#include <string>

#include "client/load/load.h"

namespace carom::load {

// Returns a table for people, with one line per subject.
std::string ReportText(const LoadReport& report);

// Returns one JSON object whose names end with their units. Unknown figures are null.
std::string ReportJson(const LoadReport& report);

// Returns an SVG picture of latency over percentiles. Along the x axis, each unit divides the share
// of remaining frames by ten.
std::string ReportPlot(const LoadReport& report);

}  // namespace carom::load
