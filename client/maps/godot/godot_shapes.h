// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which rings has a Shape2D of Godot?
//
// `GodotShapeRings` returns them, placed; godot.h reads the nodes that have shapes. Sizes are in
// pixels; what a resource does not state has Godot's default. Errors are INVALID_ARGUMENT with the
// line. Thread-safe. Cost: linear in the points and the chords.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/polygon.h"
#include "client/maps/godot/godot_scene.h"
#include "client/maps/import_common.h"

namespace carom {

// The form of a shape, or why it has none.
struct GodotShape {
  std::vector<RingSpec> rings;
  bool hollow = false;
  std::string skipped;  // the reason, if there are no rings
};

// Returns the form of a resource such as a RectangleShape2D under the map `place`. No arc is
// farther than `chord` from its chords.
absl::StatusOr<GodotShape> GodotShapeOf(const GodotResource& resource, const Affine& place,
                                        double chord);

// Returns the map of a Node2D by its position, rotation, scale and skew, or by its transform; that
// of a Control by its offsets.
absl::StatusOr<Affine> GodotPlace(const GodotNode& node);

// Returns whether a node has a place in the plane that its children inherit: it is a CanvasItem.
bool IsGodotCanvasItem(const GodotNode& node);

}  // namespace carom
