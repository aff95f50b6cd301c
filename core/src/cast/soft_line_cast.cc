// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The functions of `LineCast` for soft casts.

#include <algorithm>
#include <cstddef>
#include <span>

#include "cast/line_cast.h"
#include "numeric/double_double.h"

namespace carom::internal {
namespace {

// The length of a line's direction, with a relative error of at most 2^-98.
TwoDoubles DirectionLength(const Line& line) {
  return SquareRoot(Add(Multiply(line.dx, line.dx), Multiply(line.dy, line.dy)));
}

// Adds up parts of a line, closed intervals of its parameter that are added by ascending begin, as
// far as the parameter `limit`. What is in several parts counts once.
class UnionLength {
 public:
  UnionLength(const Line& line, const Fraction& limit) : line_(line), limit_(limit) {}

  void Add(const Fraction& begin, const Fraction& end) {
    if (is_open_ && Fraction::Compare(line_, begin, end_) <= 0) {
      if (Fraction::Compare(line_, end, end_) > 0) end_ = end;
      return;
    }
    Close();
    is_open_ = true;
    begin_ = begin;
    end_ = end;
  }

  // Returns the sum, in units of the direction.
  TwoDoubles Sum() {
    Close();
    return sum_;
  }

 private:
  void Close() {
    if (!is_open_) return;
    is_open_ = false;
    const Fraction& end = Fraction::Compare(line_, end_, limit_) < 0 ? end_ : limit_;
    if (Fraction::Compare(line_, begin_, end) >= 0) return;
    sum_ = internal::Add(sum_, Subtract(end.Pair(line_), begin_.Pair(line_)));
  }

  const Line& line_;
  const Fraction& limit_;
  bool is_open_ = false;  // whether [begin_, end_] is still to be counted
  Fraction begin_, end_;
  TwoDoubles sum_{0, 0};
};

}  // namespace

void LineCast::StartSoft(const CastOptions& options, Soft& soft, WorkMeter& meter) {
  Start(options, meter);
  soft_ = &soft;
  soft.is_decided = soft.contains_start = false;
}

// Keeps in mind how far the soft passages reach that contain the start.
void LineCast::NoteStart(const Target& target, const Passage& passage) {
  if (!IsSoft(target)) return;
  const bool is_later =
      !soft_->contains_start || Fraction::Compare(line_, passage.end, soft_->start_end) > 0;
  soft_->contains_start = true;
  if (is_later) soft_->start_end = passage.end;
}

// Adds the events of a polygon or body, of which `AddPassages` has added the first. Events after a
// hard event do not count, nor those after the last kept event once soft_count + 1 are kept.
bool LineCast::AddSoft(const Target& target, std::span<const Passage> passages,
                       const ReportedPassage& reported) {
  const Passage& first = passages[reported.index];
  const bool is_hard = !IsSoft(target);
  if (!is_hard) {
    if (passages[0].begin.is_start()) NoteStart(target, passages[0]);
    for (const Passage& passage : passages.subspan(reported.index + 1)) {
      if (meter_->stopped()) return false;
      Keep(target, passage, false);
    }
    if (!hits_.is_full()) return false;
  }
  if (soft_->stops_early) soft_->is_decided = true;
  if (is_hard) return Narrow(reported.at_exit ? first.end : first.begin);
  return Narrow(hits_.last().fraction());
}

LineCast::SoftEnd LineCast::FinishSoft() {
  hits_.Sort(ByFraction(), *meter_);
  const std::span<const Candidate> events = hits_.hits();
  const auto is_hard = [this](const Candidate& event) { return !IsSoft(event.target); };
  const auto hard = std::ranges::find_if(events, is_hard);
  if (hard != events.end()) return {true, static_cast<size_t>(hard - events.begin())};
  if (hits_.is_full()) return {true, events.size() - 1};
  return {false, events.size()};
}

// Every soft passage that begins before the end is an event before the end, unless it contains the
// start. The sum of at most 18 parts has an error below 2^-91 of the greatest parameter, and its
// product with the length of the direction a relative error below 2^-97.
double LineCast::SoftLength(const SoftEnd& end) const {
  if (line_.is_point()) return 0;
  const std::span<const Candidate> events = hits_.hits();
  const Fraction limit = end.has_hit ? events[end.rank].fraction() : Fraction::End(line_);
  UnionLength length(line_, limit);
  if (soft_->contains_start) length.Add(Fraction::Start(line_), soft_->start_end);
  for (const Candidate& event : events.first(end.rank)) {
    if (!event.passage.begin.is_start()) length.Add(event.passage.begin, event.passage.end);
  }
  return std::max(0.0, Multiply(length.Sum(), DirectionLength(line_)).high);
}

}  // namespace carom::internal
