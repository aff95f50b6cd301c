// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The signs that decide where an edge is, as seen from what a question asks about. In the names of
// predicates v and w are the ends of the edge.

#include <array>
#include <utility>

#include "carom/predicates.h"
#include "explain/question.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// Reads points of the question and of the edge as operands.
void AppendOperands(std::vector<double>&) {}
template <class... Rest>
void AppendOperands(std::vector<double>& out, Vec2 p, Rest... rest) {
  out.push_back(p.x);
  out.push_back(p.y);
  AppendOperands(out, rest...);
}
template <class... Points>
std::vector<double> OperandsOf(Points... points) {
  std::vector<double> out;
  AppendOperands(out, points...);
  return out;
}

int AddOrientation(const char* name, Vec2 a, Vec2 b, Vec2 c, ExplainedEdge& out) {
  out.signs.push_back(SignOf(name, OperandsOf(a, b, c), [&] { return Orientation(a, b, c); }));
  return out.signs.back().sign;
}

// Adds the sign of d x (b - a), for a vector d.
int AddTurn(const char* name, Vec2 d, Vec2 a, Vec2 b, ExplainedEdge& out) {
  out.signs.push_back(SignOf(name, OperandsOf(d, a, b), [&] { return CrossSign({}, d, a, b); }));
  return out.signs.back().sign;
}

// Adds the four orientations of which `Intersects` takes as many as it needs.
void AddLine(const Segment& line, ExplainedEdge& out) {
  const Segment& e = out.edge;
  AddOrientation("Orientation(a, b, v)", line.a, line.b, e.a, out);
  AddOrientation("Orientation(a, b, w)", line.a, line.b, e.b, out);
  AddOrientation("Orientation(v, w, a)", e.a, e.b, line.a, out);
  AddOrientation("Orientation(v, w, b)", e.a, e.b, line.b, out);
  out.meets = Intersects(line, e);
}

// An edge with both ends strictly on one side of the ray's line meets no ray.
void AddRay(const Probe& probe, ExplainedEdge& out) {
  const Segment& e = out.edge;
  const int v = AddTurn("Side(d, o, v)", probe.velocity, probe.line.a, e.a, out);
  const int w = AddTurn("Side(d, o, w)", probe.velocity, probe.line.a, e.b, out);
  AddOrientation("Orientation(v, w, o)", e.a, e.b, probe.line.a, out);
  if (v * w > 0) out.meets = false;
}

// An arc that starts strictly on one side of the edge's line, and whose velocity and acceleration
// do not point to the other side, never reaches the line.
void AddArc(const Probe& probe, ExplainedEdge& out) {
  const Segment& e = out.edge;
  const int start = AddOrientation("Orientation(v, w, start)", e.a, e.b, probe.line.a, out);
  const int speed = -AddTurn("Turn(velocity, v, w)", probe.velocity, e.a, e.b, out);
  const int pull = -AddTurn("Turn(acceleration, v, w)", probe.acceleration, e.a, e.b, out);
  if (start != 0 && start * speed >= 0 && start * pull >= 0) out.meets = false;
}

void AddBox(const Box& box, ExplainedEdge& out) {
  const Segment& e = out.edge;
  AddOrientation("Orientation(v, w, min)", e.a, e.b, box.min, out);
  AddOrientation("Orientation(v, w, max)", e.a, e.b, box.max, out);
  AddOrientation("Orientation(v, w, (min.x, max.y))", e.a, e.b, {box.min.x, box.max.y}, out);
  AddOrientation("Orientation(v, w, (max.x, min.y))", e.a, e.b, {box.max.x, box.min.y}, out);
  out.meets = Intersects(e, box);
}

void AddCapsule(const Capsule& capsule, ExplainedEdge& out) {
  std::vector<double> operands = OperandsOf(out.edge.a, out.edge.b, capsule.axis.a, capsule.axis.b);
  operands.push_back(capsule.radius);
  out.signs.push_back(SignOf("CompareDistance(edge, shape)", std::move(operands),
                             [&] { return CompareDistance(out.edge, capsule); }));
  out.meets = out.signs.back().sign <= 0;
}

// Adds the side of the first vertex of a placed polygon, and of the first vertex that is on another
// side of the edge's line. One sign other than 0 alone means that the line keeps the polygon apart
// from the edge.
void AddRing(const Polygon& mover, ExplainedEdge& out, WorkMeter& meter) {
  const Segment& e = out.edge;
  const std::span<const Vec2> vertices = mover.vertices();
  if (!meter.Spend(2 * mover.edge_count())) return;
  const int first = AddOrientation("Orientation(v, w, m)", e.a, e.b, vertices[0], out);
  for (const Vec2 m : vertices.subspan(1)) {
    if (Orientation(e.a, e.b, m) == first) continue;
    AddOrientation("Orientation(v, w, m)", e.a, e.b, m, out);
    break;
  }
  bool meets = false;
  for (size_t i = 0; i < mover.edge_count() && !meets; ++i) meets = Intersects(mover.edge(i), e);
  out.meets = meets;
}

void AddShape(const Probe& probe, ExplainedEdge& out, WorkMeter& meter) {
  if (const Capsule* capsule = probe.shape->capsule()) {
    AddCapsule(*capsule, out);
  } else {
    AddRing(*probe.shape->polygon(), out, meter);
  }
  if (probe.moves) AddTurn("Turn(d, v, w)", probe.velocity, out.edge.a, out.edge.b, out);
}

}  // namespace

ExplainedEdge SignsOf(const Probe& probe, EdgeRef ref, const Segment& edge, WorkMeter& meter) {
  ExplainedEdge out{ref, edge, std::nullopt, {}};
  switch (probe.form) {
    case Probe::Form::kLine:
      AddLine(probe.line, out);
      break;
    case Probe::Form::kRay:
      AddRay(probe, out);
      break;
    case Probe::Form::kArc:
      AddArc(probe, out);
      break;
    case Probe::Form::kPoint:
      AddOrientation("Orientation(v, w, p)", edge.a, edge.b, probe.line.a, out);
      out.meets = IsOnSegment(probe.line.a, edge);
      break;
    case Probe::Form::kBox:
      AddBox(probe.box, out);
      break;
    case Probe::Form::kShape:
      AddShape(probe, out, meter);
      break;
    case Probe::Form::kBounds:
      break;
  }
  return out;
}

}  // namespace carom::internal
