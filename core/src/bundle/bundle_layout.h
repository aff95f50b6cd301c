// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where do the sections of these bytes lie, and are they whole?
#pragma once

#include <array>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bundle/bundle_format.h"
#include "carom/scene.h"

namespace carom::internal {

// A bundle whose header, table and checksums are right. Each section is of the size that the counts
// of the header ask for, or of none where it may be left out; the bytes of `tile_sizes` are some
// multiple of four. What the sections hold is not looked at.
struct BundleLayout {
  BundleHeader header;
  std::array<absl::string_view, kSectionCount> sections;

  absl::string_view operator[](Section section) const {
    return sections[static_cast<size_t>(section)];
  }
  bool is_arranged() const { return !(*this)[Section::kFrame].empty(); }
};

// Errors: those of `ReadBundle` but for the contents of sections. O(n) in the bytes.
absl::StatusOr<BundleLayout> ReadLayout(absl::string_view bytes, const SceneLimits& limits);

}  // namespace carom::internal
