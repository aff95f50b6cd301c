// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is measured, group by group. A group makes its scenes, asks, and leaves its rows and figures
// in the report.
#pragma once

#include <string>

#include "tests/bench/report.h"

namespace carom::bench {

struct Bench {
  Report report;
  bool quick = false;       // small scenes, few rounds: for those who work on the benchmark
  std::string filter = "";  // runs the groups whose name holds it
  std::string maps = "";    // folder of scenes in JSON lines; empty: none
  std::string out = ".";    // folder for what is written

  bool Wants(const std::string& group) const { return group.find(filter) != std::string::npos; }
  int rounds() const { return quick ? 3 : 9; }
  size_t queries() const { return quick ? 16384 : 65536; }
};

void RunCasts(Bench& bench);         // nearest hits, and their growth with the scene
void RunContacts(Bench& bench);      // overlaps of moving polygons with contacts
void RunNearest(Bench& bench);       // the nearest polygon of a point
void RunSweeps(Bench& bench);        // shapes that go straight on
void RunMatch(Bench& bench);         // bullets past walls and players
void RunPast(Bench& bench);          // bullets of shooters in their own past
void RunAreas(Bench& bench);         // what an eye sees
void RunSees(Bench& bench);          // who sees whom
void RunTiles(Bench& bench);         // a map of boxes that touch
void RunOutlines(Bench& bench);      // one polygon of many vertices
void RunCosts(Bench& bench);         // memory, build, commit, allocations, threads
void RunTimeStudy(Bench& bench);     // the paper's: one mover about one figure
void RunPointStudy(Bench& bench);    // points and bullets that are tracked, and quiet steps
void RunWorldStudy(Bench& bench);    // many trackers in a map of many polygons
void RunService(Bench& bench);       // moves and bullets through a server
void RunFleet(Bench& bench);         // many streams, and what they take
void RunPacedStreams(Bench& bench);  // what caromd adds to gRPC
void RunStore(Bench& bench);         // commits that last
void RunStops(Bench& bench);         // how soon unwanted work stops
void RunUnary(Bench& bench);
void RunHttp(Bench& bench);  // web sockets and JSON beside gRPC
void RunMaps(Bench& bench);  // scenes made by others

// The name of a timing of ours, and how those of a peer begin.
struct Rivals {
  std::string ours;
  std::string theirs;
};

// Adds a row for ours against the fastest timing whose name begins as theirs. A peer that has no
// timing was not built, and its row is not met.
void AddRatio(Bench& bench, const std::string& name, const std::vector<Timing>& timings,
              const Rivals& rivals, double goal);

}  // namespace carom::bench
