// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Explanations as pictures.

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "explain/question.h"
#include "svg/drawing.h"
#include "svg/picture.h"

namespace carom::internal {
namespace {

// The largest number of vertices of outlines of candidates in a picture.
constexpr size_t kMostOutlines = 50000;

constexpr std::string_view kExplainStyle = R"(<style>
.reach{fill:none;stroke:#93a3cf;stroke-width:.8;stroke-dasharray:2 4}
.dropped{fill:none;stroke:#ff8f6b;stroke-width:2}
.passage{fill:none;stroke:#ff6fd8;stroke-width:2.5}
.kept{fill:none;stroke:#8dff9e;stroke-width:3}
</style>
)";

void AddBox(const Box& box, Drawing& out) {
  out.AddLine(Ink::kReach, std::array{box.min, Vec2{box.max.x, box.min.y}, box.max,
                                      Vec2{box.min.x, box.max.y}, box.min});
}

// Draws the passage of the first hit of a cast.
void AddPassage(const Probe& probe, const ExplainedStage& stage, Drawing& out) {
  if (!stage.point || !stage.exit || !std::isfinite(*stage.exit)) return;
  const Vec2 d = probe.form == Probe::Form::kRay
                     ? probe.velocity
                     : Vec2{probe.line.b.x - probe.line.a.x, probe.line.b.y - probe.line.a.y};
  const Vec2 a = probe.line.a;
  out.AddLine(Ink::kPassage, *stage.point, {a.x + *stage.exit * d.x, a.y + *stage.exit * d.y});
}

}  // namespace

// A box without bound is not drawn: its corners are not accepted coordinates.
void WriteSvg(const Scene& scene, const AnsweredGroup& answered, const Questions& questions,
              uint32_t width, Explanation& explanation) {
  const Group& group = answered.group;
  Drawing drawing;
  DrawGroup(group, &answered.answers, drawing);
  std::set<uint64_t> outlined;
  std::vector<const Polygon*> map;
  Box bounds;
  size_t vertices = 0;
  for (const ExplainedStage& stage : explanation.stages) {
    AddBox(stage.reach, drawing);
    for (const ExplainedCandidate& candidate : stage.candidates) {
      const Ink ink = candidate.fate == CandidateFate::kKept ? Ink::kKept : Ink::kDropped;
      for (const ExplainedEdge& edge : candidate.edges) {
        drawing.AddLine(ink, edge.edge.a, edge.edge.b);
      }
      if (candidate.is_body || !outlined.insert(candidate.id).second) continue;
      const Polygon* const polygon = scene.Find(candidate.id);
      if (polygon == nullptr || vertices + polygon->vertex_count() > kMostOutlines) continue;
      vertices += polygon->vertex_count();
      map.push_back(polygon);
      bounds.Extend(polygon->bounds());
    }
  }
  for (size_t i = 0; i < explanation.stages.size(); ++i) {
    AddPassage(questions.list[i].probe, explanation.stages[i], drawing);
  }
  if (group.moves.size() != 0) {
    for (const Question& question : questions.list)
      drawing.AddShape(Ink::kStart, *question.probe.shape);
  }
  bounds.Extend(drawing.bounds());
  const SvgFrame frame = FrameOf(bounds, {width});
  std::string& out = explanation.svg;
  AppendHead(frame, SvgSize::kFixed, out);
  out += kExplainStyle;
  for (const Polygon* polygon : map) AppendMap({polygon, 1}, frame, out);
  drawing.Append(frame.bounds(), frame, out);
  out += "</svg>\n";
}

}  // namespace carom::internal
