// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The goals, side by side with the peers; docs/performance.md says what each row means.

#include <cstdio>
#include <cstring>
#include <string>

#include "tests/bench/groups.h"

namespace {

constexpr char kUsage[] =
    "usage: carom_bench [--quick] [--filter TEXT] [--out FOLDER] [--maps FOLDER] [--about TEXT]\n";

}  // namespace

int main(int argc, char** argv) {
  carom::bench::Bench bench;
  std::string about;
  for (int i = 1; i < argc; ++i) {
    const auto value = [&](const char* name, std::string& to) {
      if (std::strcmp(argv[i], name) != 0 || i + 1 == argc) return false;
      to = argv[++i];
      return true;
    };
    if (std::strcmp(argv[i], "--quick") == 0) {
      bench.quick = true;
    } else if (!value("--filter", bench.filter) && !value("--out", bench.out) &&
               !value("--maps", bench.maps) && !value("--about", about)) {
      std::fputs(kUsage, stderr);
      return 2;
    }
  }
  if (bench.quick) {
    about += "; --quick: small scenes, few rounds, no measure of the goals";
  }
  std::printf("%s\n", about.c_str());
  carom::bench::RunCasts(bench);
  carom::bench::RunContacts(bench);
  carom::bench::RunNearest(bench);
  carom::bench::RunSweeps(bench);
  carom::bench::RunMatch(bench);
  carom::bench::RunPast(bench);
  carom::bench::RunAreas(bench);
  carom::bench::RunSees(bench);
  carom::bench::RunTiles(bench);
  carom::bench::RunOutlines(bench);
  carom::bench::RunCosts(bench);
  carom::bench::RunTimeStudy(bench);
  carom::bench::RunPointStudy(bench);
  carom::bench::RunWorldStudy(bench);
  carom::bench::RunService(bench);
  carom::bench::RunFleet(bench);
  carom::bench::RunPacedStreams(bench);
  carom::bench::RunStore(bench);
  carom::bench::RunStops(bench);
  carom::bench::RunUnary(bench);
  RunHttp(bench);
  carom::bench::RunMaps(bench);
  if (!bench.report.Finish(bench.out, about)) {
    std::fprintf(stderr, "bench: cannot write to %s\n", bench.out.c_str());
    return 1;
  }
  return 0;
}
