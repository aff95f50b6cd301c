// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Times over two numbers of vertices, as surfaces: after figure 5 of Jimenez, Segura and Feito.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace carom::bench {

// times[i][k] is that of columns[i] and rows[k], in nanoseconds.
struct Surface {
  std::string title;
  std::vector<std::vector<double>> times;
};

// The surfaces side by side, at one logarithmic scale.
std::string SurfacePlot(const std::string& title, const std::vector<size_t>& columns,
                        const std::vector<size_t>& rows, const std::vector<Surface>& surfaces);

}  // namespace carom::bench
