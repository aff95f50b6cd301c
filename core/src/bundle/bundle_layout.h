// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are the sections of a bundle (a file with the polygons of a scene, docs/bundle.md), and are
// its bytes complete and unchanged?
#pragma once

#include <array>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bundle/bundle_format.h"
#include "carom/scene.h"

namespace carom::internal {

// A bundle with a valid header, table and checksums. Each section has the size that the counts of
// the header require, or 0 if the section is optional; the size of the section `tile_sizes` is some
// multiple of four. The contents of the sections are not checked.
struct BundleLayout {
  BundleHeader header;
  std::array<absl::string_view, kSectionCount> sections;

  absl::string_view operator[](Section section) const {
    return sections[static_cast<size_t>(section)];
  }
  bool is_arranged() const { return !(*this)[Section::kFrame].empty(); }
};

// Returns the layout of the bundle in `bytes`, which must outlive the layout. Errors: as for
// `ReadBundle`, except for the contents of sections. O(n) in the bytes.
absl::StatusOr<BundleLayout> ReadLayout(absl::string_view bytes, const SceneLimits& limits);

}  // namespace carom::internal
