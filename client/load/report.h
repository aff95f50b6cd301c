// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A run's report, for people and for programs.
#pragma once

#include <string>

#include "client/load/load.h"

namespace carom::load {

// A table, a line a figure.
std::string ReportText(const LoadReport& report);

// One object; each name ends with its unit. Figures that are not known are null.
std::string ReportJson(const LoadReport& report);

// Latency over percentiles, as an SVG picture: each step to the right has a tenth of the frames.
std::string ReportPlot(const LoadReport& report);

}  // namespace carom::load
