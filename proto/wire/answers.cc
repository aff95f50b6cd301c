// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes the answers to a group (the queries about one scene). A client does not trust
// the server: decoding checks that counts, columns and errors fit together.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "wire/answer_columns.h"
#include "wire/answer_reader.h"
#include "wire/chain_columns.h"
#include "wire/columns.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/kinds.h"

namespace carom::wire {
namespace {

// --- Encoding

void EncodeItemErrors(const std::vector<ItemError>& errors,
                      RepeatedPtrField<v1::ItemError>* messages) {
  messages->Clear();
  for (const ItemError& error : errors) {
    v1::ItemError& message = *messages->Add();
    message.set_index(error.index);
    message.set_code(static_cast<int>(error.fault == ItemFault::kNotKept
                                          ? absl::StatusCode::kOutOfRange
                                          : absl::StatusCode::kInvalidArgument));
    message.set_field(Name(error.column));
    message.set_message(Description(error.fault));
    message.set_fault(static_cast<v1::ItemFault>(EnumToWire(error.fault)));
  }
}

// Writes the column `counts` (the number of rows of each query) and the errors of queries.
template <class Core, class Message>
void EncodeCounts(const Core& answers, Message& message) {
  CopyColumn(answers.counts, message.mutable_counts());
  EncodeItemErrors(answers.errors, message.mutable_errors());
}

// Writes the column `is_body`: whether each row is a hit of a body (a moving shape beside the
// scene's polygons). Omits the column if no row is a hit of a body.
template <class Rows, class IsBody, class Message>
void EncodeIsBody(const Rows& rows, IsBody is_body, Message& message) {
  message.clear_is_body();
  if (std::none_of(rows.begin(), rows.end(), is_body)) return;
  bool* const cells = Cells(message.mutable_is_body(), rows.size());
  std::transform(rows.begin(), rows.end(), cells, is_body);
}
// Writes the column `is_body` as the geometry core has it: one entry per row if the queries ask for
// bodies, else none.
template <class Message>
void EncodeIsBody(const std::vector<uint8_t>& column, Message& message) {
  CopyColumn(column, message.mutable_is_body());
}

// Writes the hits of casts, sweeps and arcs.
template <class Core, class Columns, class Message>
void EncodeHits(const Core& answers, const Columns& columns, Message& message) {
  EncodeCounts(answers, message);
  CopyColumn(answers.truncated, message.mutable_truncated());
  EncodeRows(answers.hits, columns, message);
  EncodeIsBody(
      answers.hits, [](const auto& hit) { return hit.is_body; }, message);
}

// Writes the answers to casts. Each level of detail has columns (repeated fields) of its own; the
// columns of a level above `options.detail`, the level that the client requested, are empty.
void Encode(const CastAnswers& answers, const CastOptions& options, v1::CastAnswers& message) {
  const std::span<const CastHit> hits = answers.hits;
  const auto asked = [&](CastDetail level) {
    return options.detail >= level ? hits : std::span<const CastHit>();
  };
  EncodeHits(answers, kCastFraction, message);
  EncodeRows(asked(CastDetail::kNormal), kCastNormal, message);
  EncodeRows(asked(CastDetail::kEdge), kCastEdge, message);
  EncodeRows(asked(CastDetail::kExit), kCastExit, message);
  EncodeRows(answers.reflections, kReflection, message);
  CopyColumn(answers.passed, message.mutable_passed());
  CopyColumn(answers.soft_lengths, message.mutable_soft_length());
}

void Encode(const SweepAnswers& answers, v1::SweepAnswers& message) {
  EncodeHits(answers, kSweepHit, message);
  EncodeRows(answers.safe, kSafe, message);
}

void Encode(const SlideAnswers& answers, v1::SlideAnswers& message) {
  EncodeRows(answers.rows, kSlideRow, message);
  EncodeRows(answers.legs, kSlideLeg, message);
  EncodeRows(answers.legs, kSlideHit, message);
  EncodeIsBody(
      answers.legs, [](const SlideLeg& leg) { return leg.hit.is_body; }, message);
  EncodeItemErrors(answers.errors, message.mutable_errors());
}

void Encode(const BounceAnswers& answers, v1::BounceAnswers& message) {
  EncodeCounts(answers, message);
  CopyColumn(answers.stuck, message.mutable_stuck());
  EncodeRows(answers.legs, kBounceLeg, message);
  EncodeRows(answers.legs, kBounceHit<v1::BounceAnswers>, message);
}

void Encode(const RayBounceAnswers& answers, v1::RayBounceAnswers& message) {
  EncodeCounts(answers, message);
  CopyColumn(answers.stuck, message.mutable_stuck());
  EncodeRows(answers.legs, kRayBounceLeg, message);
  EncodeRows(answers.legs, kBounceHit<v1::RayBounceAnswers>, message);
}

void Encode(const ArcAnswers& answers, v1::ArcAnswers& message) {
  EncodeHits(answers, kArcHit, message);
}

void Encode(const RotatingSweepAnswers& answers, v1::RotatingSweepAnswers& message) {
  EncodeCounts(answers, message);
  EncodeRows(answers.hits, kRotatingSweepHit, message);
}

void Encode(const LocateAnswers& answers, v1::LocateAnswers& message) {
  EncodeCounts(answers, message);
  EncodeRows(answers.polygon_ids, kIds<v1::LocateAnswers>, message);
  EncodeIsBody(answers.is_body, message);
  EncodeRows(answers.locations, kLocation, message);
}

void Encode(const OverlapAnswers& answers, v1::OverlapAnswers& message) {
  EncodeCounts(answers, message);
  EncodeRows(answers.polygon_ids, kIds<v1::OverlapAnswers>, message);
  EncodeIsBody(answers.is_body, message);
  EncodeRows(answers.touching, kTouching, message);
  EncodeRows(answers.edge_counts, kEdgeCounts<v1::OverlapAnswers>, message);
  EncodeRows(answers.edges, kOverlapEdge<v1::OverlapAnswers>, message);
}

void Encode(const MoveAnswers& answers, v1::MoveAnswers& message) {
  CopyColumn(answers.clear, message.mutable_clear());
  EncodeCounts(answers, message);
  EncodeRows(answers.polygon_ids, kIds<v1::MoveAnswers>, message);
  EncodeRows(answers.edge_counts, kEdgeCounts<v1::MoveAnswers>, message);
  EncodeRows(answers.edges, kOverlapEdge<v1::MoveAnswers>, message);
  EncodeRows(answers.first_touches, kFirstTouch, message);
  EncodeRows(answers.first_touches, kFirstTouchEdge, message);
  CopyColumn(answers.quiet_radii, message.mutable_quiet_radius());
}

void Encode(const DistanceAnswers& answers, v1::DistanceAnswers& message) {
  EncodeCounts(answers, message);
  EncodeRows(answers.polygon_ids, kIds<v1::DistanceAnswers>, message);
  EncodeIsBody(answers.is_body, message);
  EncodeRows(answers.rows, kDistanceRow, message);
}

void Encode(const ContactAnswers& answers, v1::ContactAnswers& message) {
  EncodeCounts(answers, message);
  EncodeRows(answers.polygon_ids, kIds<v1::ContactAnswers>, message);
  EncodeIsBody(answers.is_body, message);
  EncodeRows(answers.contacts, kContact, message);
  std::vector<ContactPoint> points;
  points.reserve(2 * answers.contacts.size());
  for (const Contact& contact : answers.contacts) {
    points.insert(points.end(), contact.points.begin(),
                  contact.points.begin() + contact.point_count);
  }
  EncodeRows(points, kContactPoint, message);
  EncodeRows(answers.splits, kSplit, message);
}

void Encode(const DepenetrateAnswers& answers, v1::DepenetrateAnswers& message) {
  EncodeRows(answers.positions, kPosition, message);
  EncodeRows(answers.finished, kFinished, message);
  EncodeRows(answers.steps, kSteps, message);
  EncodeItemErrors(answers.errors, message.mutable_errors());
}

void Encode(const SightAnswers& answers, v1::SightAnswers& message) {
  EncodeRows(answers.visible, kVisible, message);
  EncodeItemErrors(answers.errors, message.mutable_errors());
}

void Encode(const FanAnswers& answers, v1::FanAnswers& message) {
  EncodeCounts(answers, message);
  EncodeRows(answers.hits, kBeamHit, message);
  EncodeRows(answers.distances, kBeamDistance, message);
  EncodeRows(answers.polygon_ids, kIds<v1::FanAnswers>, message);
  EncodeIsBody(answers.is_body, message);
}

void Encode(const SeeAnswers& answers, v1::SeeAnswers& message) {
  EncodeCounts(answers, message);
  CopyColumn(answers.seen, message.mutable_seen());
  EncodeRows(answers.starts_inside, kObserverInside, message);
}

// Writes `is_body` of pieces only if one lies on a body, as for hits.
void Encode(const AreaAnswers& answers, v1::AreaAnswers& message) {
  EncodeCounts(answers, message);
  CopyColumn(answers.truncated, message.mutable_truncated());
  EncodeRows(answers.pieces, kAreaPiece, message);
  EncodeRows(answers.areas, kAreaSize, message);
  EncodeRows(answers.starts_inside, kEyeInside, message);
  EncodeIsBody(
      answers.pieces, [](const AreaPiece& piece) { return piece.is_body; }, message);
}

// Writes the answers to a kind of query for which no option changes the set of columns.
template <class Core, class Options, class Message>
void Encode(const Core& answers, const Options&, Message& message) {
  Encode(answers, message);
}

// --- Decoding

absl::Status Decode(absl::string_view batch, const v1::CastAnswers& message, CastAnswers& out) {
  Reader reader(batch, message);
  const int rows = message.polygon_id_size();
  reader.Hits(kCastFraction, out);
  reader.RowsIfPresent(message.normal_x_size(), kCastNormal, out.hits);
  reader.RowsIfPresent(message.feature_size(), kCastEdge, out.hits);
  reader.RowsIfPresent(message.exit_fraction_size(), kCastExit, out.hits);
  reader.Rows(OptionalRows(message.reflection_x_size(), rows), kReflection, out.reflections);
  // The columns of soft walls have an entry for each query, or none.
  const auto read = [&](const auto& column, const char* name, auto& to) {
    reader.Require(column.empty() || column.size() == message.counts_size(), name);
    if (reader.status().ok()) to.assign(column.begin(), column.end());
  };
  read(message.passed(), "passed", out.passed);
  read(message.soft_length(), "soft_length", out.soft_lengths);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::SweepAnswers& message, SweepAnswers& out) {
  Reader reader(batch, message);
  reader.Hits(kSweepHit, out);
  const int items = static_cast<int>(out.counts.size());
  reader.Rows(OptionalRows(message.safe_x_size(), items), kSafe, out.safe);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::SlideAnswers& message, SlideAnswers& out) {
  Reader reader(batch, message);
  const int legs = message.from_x_size();
  std::vector<uint32_t> counts;
  reader.Counts(legs, counts);
  reader.Rows(message.x_size(), kSlideRow, out.rows);
  reader.Rows(legs, kSlideLeg, out.legs);
  // Reads the columns of the hits, one hit for each leg (straight part of a slide), into the member
  // `hit` of each leg.
  reader.Rows(legs, kSlideHit, out.legs);
  reader.IsBody(out.legs, [](SlideLeg& leg) -> SweepHit& { return leg.hit; });
  reader.Errors(counts, out.errors);
  return reader.status();
}

// Decodes the answers to bounces: for each query a chain of legs (straight parts of the path
// between two reflections). `size` is the number of legs of all chains; `leg` lists the columns of
// a leg without its hit.
template <class Message, class Answers, class LegColumns>
absl::Status DecodeChains(absl::string_view batch, const Message& message, int size,
                          const LegColumns& leg, Answers& out) {
  Reader reader(batch, message);
  reader.Counts(size, out.counts);
  reader.Rows(size, leg, out.legs);
  reader.Rows(size, kBounceHit<Message>, out.legs);
  for (const uint32_t index : message.stuck()) {
    const bool ascends = out.stuck.empty() || out.stuck.back() < index;
    reader.Require(ascends && index < out.counts.size() && out.counts[index] != 0, "stuck");
    if (!reader.status().ok()) return reader.status();
    out.stuck.push_back(index);
  }
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::BounceAnswers& message, BounceAnswers& out) {
  return DecodeChains(batch, message, message.ax_size(), kBounceLeg, out);
}

absl::Status Decode(absl::string_view batch, const v1::RayBounceAnswers& message,
                    RayBounceAnswers& out) {
  return DecodeChains(batch, message, message.x_size(), kRayBounceLeg, out);
}

absl::Status Decode(absl::string_view batch, const v1::ArcAnswers& message, ArcAnswers& out) {
  Reader reader(batch, message);
  reader.Hits(kArcHit, out);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::RotatingSweepAnswers& message,
                    RotatingSweepAnswers& out) {
  Reader reader(batch, message);
  reader.Counts(message.polygon_id_size(), out.counts);
  for (const uint32_t count : message.counts()) reader.Require(count <= 1, "counts");
  reader.Rows(message.polygon_id_size(), kRotatingSweepHit, out.hits);
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::LocateAnswers& message, LocateAnswers& out) {
  const int rows = message.polygon_id_size();
  Reader reader(batch, message);
  reader.Counts(rows, out.counts);
  reader.Rows(rows, kIds<v1::LocateAnswers>, out.polygon_ids);
  reader.IsBody(out.is_body);
  reader.Rows(rows, kLocation, out.locations);
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

// Whether the answers to a kind of overlap query have the column `touching`: for each row, whether
// the shape touches the polygon without overlapping it. Circles and capsules (the columns with
// `radius`) have it.
enum class Touching { kNever, kAlways };
template <class Columns>
constexpr Touching TouchingOf(Columns Group::*) {
  return requires(Columns columns) { columns.radius; }
  ? Touching::kAlways : Touching::kNever;
}

absl::Status Decode(absl::string_view batch, const v1::OverlapAnswers& message, Touching touching,
                    OverlapAnswers& out) {
  const int rows = message.polygon_id_size();
  Reader reader(batch, message);
  reader.Counts(rows, out.counts);
  reader.Rows(rows, kIds<v1::OverlapAnswers>, out.polygon_ids);
  reader.IsBody(out.is_body);
  reader.Rows(touching == Touching::kAlways ? rows : 0, kTouching, out.touching);
  reader.Edges(rows, out);
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::DistanceAnswers& message,
                    DistanceAnswers& out) {
  const int rows = message.polygon_id_size();
  Reader reader(batch, message);
  reader.Counts(rows, out.counts);
  reader.Rows(rows, kIds<v1::DistanceAnswers>, out.polygon_ids);
  reader.IsBody(out.is_body);
  reader.Rows(OptionalRows(message.distance_size(), rows), kDistanceRow, out.rows);
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

// Decodes the answers to moves of trackers. Bit i of `clear` means that move i touches nothing;
// `counts` has an entry for each move whose bit is 0. The number of moves is the number of set bits
// of `clear` plus the number of counts, and no bit beyond the moves is set. A move with an error
// has its bit in `clear` not set and a count of 0.
absl::Status Decode(absl::string_view batch, const v1::MoveAnswers& message, MoveAnswers& out) {
  const int rows = message.polygon_id_size();
  Reader reader(batch, message);
  out.clear.assign(message.clear().begin(), message.clear().end());
  uint64_t items = static_cast<uint64_t>(message.counts_size());
  for (const uint64_t word : out.clear) items += static_cast<uint64_t>(std::popcount(word));
  const uint64_t beyond =
      items % 64 == 0 || out.clear.empty() ? 0 : out.clear.back() >> (items % 64);
  reader.Require(out.clear.size() == (items + 63) / 64 && beyond == 0, "clear");
  reader.Counts(rows, out.counts);
  reader.Rows(rows, kIds<v1::MoveAnswers>, out.polygon_ids);
  reader.Edges(rows, out);
  reader.Rows(OptionalRows(message.touches_size(), message.counts_size()), kFirstTouch,
              out.first_touches);
  reader.RowsIfPresent(message.first_has_edge_size(), kFirstTouchEdge, out.first_touches);
  const auto given = static_cast<uint64_t>(message.quiet_radius_size());
  const auto is_length = [](double radius) { return radius >= 0; };
  reader.Require(
      (given == 0 || given == items) && std::ranges::all_of(message.quiet_radius(), is_length),
      "quiet_radius");
  if (!reader.status().ok()) return reader.status();
  out.quiet_radii.assign(message.quiet_radius().begin(), message.quiet_radius().end());
  // number of polygons that each move touches; 1 for a clear move (a move that touches nothing), so
  // that `Errors`, which requires 0, refuses an error of a clear move
  std::vector<uint32_t> touched(items);
  size_t next = 0;
  for (size_t i = 0; i < items; ++i) {
    const bool is_clear = (out.clear[i / 64] >> (i % 64) & 1) != 0;
    touched[i] = is_clear ? 1 : out.counts[next++];
  }
  reader.Errors(touched, out.errors);
  return reader.status();
}

// Distributes `points`, in order, to the contacts: each contact takes as many points as its
// `point_count`, 1 or 2.
void AssignPoints(const std::vector<ContactPoint>& points, std::vector<Contact>& contacts) {
  size_t next = 0;
  for (Contact& contact : contacts) {
    for (uint32_t i = 0; i < contact.point_count; ++i) contact.points[i] = points[next++];
  }
}

absl::Status Decode(absl::string_view batch, const v1::ContactAnswers& message,
                    ContactAnswers& out) {
  const int rows = message.polygon_id_size();
  Reader reader(batch, message);
  reader.Counts(rows, out.counts);
  reader.Rows(rows, kIds<v1::ContactAnswers>, out.polygon_ids);
  reader.IsBody(out.is_body);
  reader.Rows(rows, kContact, out.contacts);
  for (const uint32_t count : message.point_counts()) {
    reader.Require(count == 1 || count == 2, "point_counts");
  }
  reader.Require(Sum(message.point_counts()) == static_cast<uint64_t>(message.point_x_size()),
                 "point_counts");
  std::vector<ContactPoint> points;
  reader.Rows(message.point_x_size(), kContactPoint, points);
  reader.Rows(OptionalRows(message.fixed_x_size(), rows), kSplit, out.splits);
  reader.Errors(out.counts, out.errors);
  if (reader.status().ok()) AssignPoints(points, out.contacts);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::DepenetrateAnswers& message,
                    DepenetrateAnswers& out) {
  const int items = message.x_size();
  Reader reader(batch, message);
  reader.Rows(items, kPosition, out.positions);
  reader.Rows(items, kFinished, out.finished);
  reader.Rows(items, kSteps, out.steps);
  reader.Errors(out.finished, out.errors);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::SightAnswers& message, SightAnswers& out) {
  Reader reader(batch, message);
  reader.Rows(message.visible_size(), kVisible, out.visible);
  reader.Errors(out.visible, out.errors);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::FanAnswers& message, FanAnswers& out) {
  const int rows = message.polygon_id_size();
  Reader reader(batch, message);
  reader.Counts(rows, out.counts);
  reader.Rows(rows, kBeamHit, out.hits);
  reader.Rows(rows, kBeamDistance, out.distances);
  reader.Rows(rows, kIds<v1::FanAnswers>, out.polygon_ids);
  reader.IsBody(out.is_body);
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

absl::Status Decode(absl::string_view batch, const v1::AreaAnswers& message, AreaAnswers& out) {
  const int rows = message.polygon_id_size();
  const int items = message.counts_size();
  Reader reader(batch, message);
  reader.Counts(rows, out.counts);
  reader.Rows(rows, kAreaPiece, out.pieces);
  reader.IsBody(out.pieces, [](AreaPiece& piece) -> AreaPiece& { return piece; });
  reader.Rows(items, kAreaSize, out.areas);
  reader.Rows(items, kEyeInside, out.starts_inside);
  reader.Truncated(out);
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

// Each observer has as many words as any other, and as many bits as its count.
absl::Status Decode(absl::string_view batch, const v1::SeeAnswers& message, SeeAnswers& out) {
  const int items = message.counts_size();
  Reader reader(batch, message);
  out.counts.assign(message.counts().begin(), message.counts().end());
  out.seen.assign(message.seen().begin(), message.seen().end());
  reader.Require(items == 0 ? out.seen.empty() : message.seen_size() % items == 0, "seen");
  for (size_t i = 0; reader.status().ok() && i < out.counts.size(); ++i) {
    uint64_t bits = 0;
    for (size_t w = 0; w < out.words(); ++w) {
      bits += static_cast<uint64_t>(std::popcount(out.seen[i * out.words() + w]));
    }
    reader.Require(bits == out.counts[i], "counts");
  }
  reader.Rows(items, kObserverInside, out.starts_inside);
  reader.Errors(out.counts, out.errors);
  return reader.status();
}

}  // namespace

// Writes the answers to each kind of query that `group` has. Clears the field of any other kind;
// protobuf keeps the memory of its columns for reuse.
void EncodeGroupAnswers(const Group& group, const GroupAnswers& answers, v1::GroupAnswer& message) {
  message.clear_status();
  message.set_version(answers.version);
  ForEachWireKind([&](const auto& kind) {
    if ((group.*kind.core.columns).size() == 0) return (message.*kind.answer.clear)();
    Encode(answers.*kind.core.answers, group.*kind.core.options, *(message.*kind.answer.mutate)());
  });
}

// Reads the answers to all kinds of queries. A kind without a field in `message` gets empty
// answers.
absl::Status DecodeGroupAnswers(const v1::GroupAnswer& message, GroupAnswers& out) {
  out.Clear();
  out.version = message.version();
  absl::Status status;
  ForEachWireKind([&](const auto& kind) {
    const auto& from = (message.*kind.answer.get)();
    auto& to = out.*kind.core.answers;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(to)>, OverlapAnswers>) {
      status.Update(Decode(kind.name(), from, TouchingOf(kind.core.columns), to));
    } else {
      status.Update(Decode(kind.name(), from, to));
    }
  });
  if (!status.ok()) out.Clear();
  return status;
}

}  // namespace carom::wire
