// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The steps of `DrawSvg`, for pictures of a part of a scene.
#pragma once

#include <span>

#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/svg.h"
#include "svg/drawing.h"

namespace carom::internal {

// Adds the bodies and the questions of `group`, which `CheckGroup` accepts, and what `answers`
// found; `answers` may be null.
void DrawGroup(const Group& group, const GroupAnswers* answers, Drawing& out);

// Adds an eye and the area that it sees, of which `pieces` is the boundary.
void DrawArea(Vec2 eye, double range, std::span<const AreaPiece> pieces, Drawing& out);

// Draws the eyes of observers alone: all bodies of their group are drawn anyway.
void DrawEyes(const AreaColumns& observers, Drawing& out);

// The frame of a picture, in which there is room around everything.
SvgFrame FrameOf(Box bounds, const SvgOptions& options);

}  // namespace carom::internal
