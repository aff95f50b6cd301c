// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One shape that moves and turns, the code that makes it again, and its sweep through a scene.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_format.h"
#include "carom/rotating_sweep.h"
#include "carom/sincos.h"
#include "tests/core/random_scene.h"

namespace carom::testing {

struct Turning {
  Shape shape;
  Pose from;
  Pose to;
  double tolerance;

  std::string ToCode() const {
    std::string code;
    if (shape.capsule() != nullptr) {
      const Capsule& c = *shape.capsule();
      code = absl::StrFormat("Capsule{{{%a, %a}, {%a, %a}}, %a}", c.axis.a.x, c.axis.a.y,
                             c.axis.b.x, c.axis.b.y, c.radius);
    } else {
      code = carom::testing::ToCode(shape.polygon()->spec());
    }
    const auto add = [&](const Pose& pose) {
      absl::StrAppendFormat(&code, ", Pose{{%a, %a}, %a, %a}", pose.position.x, pose.position.y,
                            pose.c, pose.s);
    };
    add(from);
    add(to);
    return code + absl::StrFormat(", %a", tolerance);
  }
};

inline RotatingSweepAnswers Ask(const Scene& scene, const Turning& m,
                                const RotatingSweepOptions& options = {}) {
  RotatingSweepAnswers answers;
  WorkMeter meter;
  const RotatingSweepColumns columns{{{&m.shape, 1},
                                      {},
                                      {&m.from.position.x, 1},
                                      {&m.from.position.y, 1},
                                      {&m.from.c, 1},
                                      {&m.from.s, 1},
                                      {}},
                                     {&m.to.position.x, 1},
                                     {&m.to.position.y, 1},
                                     {&m.to.c, 1},
                                     {&m.to.s, 1},
                                     {},
                                     {&m.tolerance, 1}};
  EXPECT_TRUE(SweepRotating(scene, columns, options, answers, meter));
  EXPECT_EQ(answers.counts.size(), 1u);
  EXPECT_EQ(answers.counts[0], answers.hits.size());
  return answers;
}

inline Pose PoseAt(double x, double y, double angle) {
  const CosSin rotation = SinCos(angle);
  return {{x, y}, rotation.c, rotation.s};
}

}  // namespace carom::testing
