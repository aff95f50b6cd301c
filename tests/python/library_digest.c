/* SPDX-FileCopyrightText: The Carom authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * library_digest [ITEMS]: the digests of made-up questions of every kind, one line a kind, against
 * 10,000 polygons and 200 bodies. The questions are made of whole numbers alone, so that they are
 * the same on every machine. Two builds of libcarom.so.1 that print other lines are two libraries.
 */
#include <carom/carom.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 100, POLYGONS = SIDE * SIDE, SHAPES = 24, BODIES = 200, MOST_ITEMS = 65536 };

/* SplitMix64 (Steele, Lea and Flood). */
static uint64_t state = 1;
static uint64_t draw(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}
/* A multiple of 1/256 in [least, least + span). */
static double between(int least, int span) {
  return least + (double)(draw() % (uint64_t)(span * 256)) / 256;
}

/* Sixteen directions, whose lengths differ by less than a thousandth from 1,024. */
static const int directions[16][2] = {{1024, 0},  {946, 392},   {724, 724},   {392, 946},
                                      {0, 1024},  {-392, 946},  {-724, 724},  {-946, 392},
                                      {-1024, 0}, {-946, -392}, {-724, -724}, {-392, -946},
                                      {0, -1024}, {392, -946},  {724, -724},  {946, -392}};

/* Star-shaped polygons about (x, y), some of them with a hole, in columns that grow. */
static struct {
  uint32_t ring_count[POLYGONS], ring_size[2 * POLYGONS];
  double x[32 * POLYGONS], y[32 * POLYGONS];
  size_t polygons, rings, vertices;
} made;

static void add_ring(double x, double y, int least, int span) {
  const size_t before = made.vertices;
  while (made.vertices - before < 3) { /* else the ring is drawn again */
    made.vertices = before;
    const uint64_t taken = draw();
    for (int k = 0; k < 16; ++k) {
      const double length = between(least, span);
      if ((taken >> k & 1) == 0) continue;
      made.x[made.vertices] = x + directions[k][0] * length / 1024;
      made.y[made.vertices++] = y + directions[k][1] * length / 1024;
    }
  }
  made.ring_size[made.rings++] = (uint32_t)(made.vertices - before);
}

static void add_polygon(double x, double y, int least, int span) {
  const int rings = draw() % 8 == 0 ? 2 : 1;
  for (int ring = 0; ring < rings; ++ring) add_ring(x, y, least >> ring, span);
  made.ring_count[made.polygons++] = (uint32_t)rings;
}

/* Ends the program where the library refuses something. */
static carom_status status = {.struct_size = sizeof status};
static void check(uint32_t code) {
  if (code == CAROM_OK) return;
  fprintf(stderr, "%s %s: %s\n", carom_code_name(code), status.field, status.message);
  exit(1);
}

static carom_polygon_set* take_polygons(void) {
  const carom_polygons columns = {sizeof columns, .ring_count = {made.ring_count, made.polygons, 1},
                                  .ring_size = {made.ring_size, made.rings, 1},
                                  .x = {made.x, made.vertices, 1}, .y = {made.y, made.vertices, 1}};
  carom_polygon_set* set = NULL;
  check(carom_polygon_set_create(&columns, NULL, &set, &status));
  made.polygons = made.rings = made.vertices = 0;
  return set;
}

static carom_world world = {.struct_size = sizeof world};
static carom_shapes* shapes; /* SHAPES polygons, and as many capsules */
static carom_answers* answers;

/* The columns of one question. All are drawn, in this order, before a question is asked, since the
 * compiler chooses the order of calls within a struct's list. Entries lie in [least, least + span),
 * counted from the entry of the column `from` on if there is one. */
/* clang-format off */
enum {
  X, Y, NEAR_X, NEAR_Y, FAR_X, FAR_Y, HIGH_X, HIGH_Y, DX, DY, UP, ANGLE, TURN, SMALL, WIDE, LARGE,
  ROOM, FINE, FAR_RANGE, COLUMNS
};
static const struct {
  int least, span, is_offset, from;
} drawn[COLUMNS] = {
    [X] = {0, 16 * SIDE}, [Y] = {0, 16 * SIDE}, [NEAR_X] = {-16, 32, 1, X},
    [NEAR_Y] = {-16, 32, 1, Y}, [FAR_X] = {-200, 400, 1, X}, [FAR_Y] = {-200, 400, 1, Y},
    [HIGH_X] = {0, 9, 1, X}, [HIGH_Y] = {0, 9, 1, Y}, [DX] = {-8, 16}, [DY] = {-8, 16},
    [UP] = {1, 2}, [ANGLE] = {-3, 6}, [TURN] = {-3, 6}, [SMALL] = {0, 2}, [WIDE] = {0, 9},
    [LARGE] = {0, 60}, [ROOM] = {1, 1}, [FINE] = {0, 1}, [FAR_RANGE] = {0, 400}};
/* clang-format on */
enum { SHAPE, POLYGON, BODY, BEAMS, MANY_BEAMS, CHOICES };
static const struct {
  uint32_t least, span;
} chosen[CHOICES] = {[SHAPE] = {0, 2 * SHAPES},
                     [POLYGON] = {0, SHAPES},
                     [BODY] = {0, BODIES},
                     [BEAMS] = {1, 8},
                     [MANY_BEAMS] = {64, 512}};
static double numbers[COLUMNS][MOST_ITEMS];
static uint32_t choices[CHOICES][MOST_ITEMS];
static size_t items;

static void draw_columns(void) {
  for (int k = 0; k < COLUMNS; ++k) {
    for (size_t i = 0; i < items; ++i) {
      numbers[k][i] = between(drawn[k].least, drawn[k].span) +
                      (drawn[k].is_offset ? numbers[drawn[k].from][i] : 0);
    }
  }
  for (int k = 0; k < CHOICES; ++k) {
    for (size_t i = 0; i < items; ++i)
      choices[k][i] = chosen[k].least + (uint32_t)(draw() % chosen[k].span);
  }
}
static carom_f64_column at(int column) { return (carom_f64_column){numbers[column], items, 1}; }
static carom_u32_column choice(int column) { return (carom_u32_column){choices[column], items, 1}; }
/* Shapes or polygons anywhere in the scene, turned. */
static carom_placed placed(int which) {
  return (carom_placed){shapes, choice(which), at(X), at(Y), {0}, {0}, at(ANGLE)};
}

static void make_world(void) {
  for (int i = 0; i < POLYGONS; ++i) add_polygon(16 * (i % SIDE) + 8, 16 * (i / SIDE) + 8, 2, 5);
  carom_polygon_set* set = take_polygons();
  carom_scene* scene = NULL;
  check(carom_scene_create(set, 1, NULL, &scene, &status));
  carom_polygon_set_destroy(set);
  for (int i = 0; i < SHAPES; ++i) add_polygon(0, 0, 1, 2);
  set = take_polygons();
  items = SHAPES;
  draw_columns();
  const carom_capsules capsules = {sizeof capsules, 0,         at(SMALL), at(ROOM),
                                   at(UP),          at(SMALL), at(SMALL)};
  check(carom_shapes_create(set, &capsules, &shapes, &status));
  carom_polygon_set_destroy(set);
  items = BODIES;
  draw_columns();
  const carom_body_columns bodies = {sizeof bodies, 0, placed(SHAPE), {0}, {0}};
  check(carom_bodies_create(&bodies, &world.bodies, &status));
  check(carom_trackers_create(MOST_ITEMS, 0, &world.trackers, &status));
  check(carom_answers_create(NULL, &answers, &status));
  world.scene = scene;
}

/* The questions. Each fills columns, asks, and leaves the answers in `answers`. */
#define ASK(function, type, ...) \
  check(function(&world, &(type){sizeof(type), __VA_ARGS__}, answers, &status))
#define BOTH .scope = {CAROM_AGAINST_BOTH, 0, {0}, {0}}

static void segments(void) {
  ASK(carom_cast_segments, carom_segments, .ax = at(X), .ay = at(Y), .bx = at(NEAR_X),
      .by = at(NEAR_Y));
}
static void passages(void) {
  ASK(carom_cast_segments, carom_segments, .mode = CAROM_CAST_MODE_ALL_PASSAGES, BOTH, .ax = at(X),
      .ay = at(Y), .bx = at(FAR_X), .by = at(FAR_Y));
}
static void rays(void) {
  ASK(carom_cast_rays, carom_rays, BOTH, .x = at(X), .y = at(Y), .dx = at(DX), .dy = at(UP));
}
static void points(void) { ASK(carom_locate_points, carom_points, BOTH, .x = at(X), .y = at(Y)); }
static void circles(void) {
  ASK(carom_overlap_circles, carom_circles, CAROM_OVERLAP_DETAIL_EDGES, .x = at(X), .y = at(Y),
      .radius = at(WIDE));
}
static void capsules(void) {
  ASK(carom_overlap_capsules, carom_capsule_overlaps, CAROM_OVERLAP_DETAIL_EDGES, .ax = at(X),
      .ay = at(Y), .bx = at(NEAR_X), .by = at(NEAR_Y), .radius = at(SMALL));
}
static void boxes(void) {
  ASK(carom_overlap_boxes, carom_boxes, CAROM_OVERLAP_DETAIL_EDGES, .min_x = at(X), .min_y = at(Y),
      .max_x = at(HIGH_X), .max_y = at(HIGH_Y));
}
static void polygons(void) {
  ASK(carom_overlap_polygons, carom_polygon_overlaps, CAROM_OVERLAP_DETAIL_EDGES, BOTH,
      .movers = placed(POLYGON));
}
static void distances(void) {
  ASK(carom_measure_distances, carom_distances, .movers = placed(SHAPE));
}
static void within(void) {
  ASK(carom_measure_distances, carom_distances, CAROM_DISTANCE_MODE_ALL, BOTH,
      .movers = placed(SHAPE), .max_distance = at(WIDE));
}
static void contacts(void) {
  ASK(carom_find_contacts, carom_contacts, BOTH, .movers = placed(SHAPE));
}
static void body_contacts(void) {
  ASK(carom_find_body_contacts, carom_body_contacts, .body = choice(BODY));
}
static void depenetrations(void) {
  ASK(carom_depenetrate, carom_depenetrations, .movers = placed(SHAPE));
}
static void sweeps(void) {
  ASK(carom_sweep_shapes, carom_sweeps, .movers = placed(SHAPE), .to_x = at(NEAR_X),
      .to_y = at(NEAR_Y));
}
static void blocking(void) {
  ASK(carom_sweep_shapes, carom_sweeps, .inside_policy = CAROM_INSIDE_POLICY_BLOCKING_LEAVE, BOTH,
      .movers = placed(SHAPE), .to_x = at(NEAR_X), .to_y = at(NEAR_Y), .skin = at(SMALL));
}
static void rotating(void) {
  ASK(carom_sweep_rotating, carom_rotating_sweeps, .movers = placed(SHAPE), .to_x = at(NEAR_X),
      .to_y = at(NEAR_Y), .to_angle = at(TURN), .tolerance = at(ROOM));
}
static void arcs(void) {
  ASK(carom_cast_arcs, carom_arcs, BOTH, .x = at(X), .y = at(Y), .vx = at(DX), .vy = at(DY),
      .ax = at(SMALL), .ay = at(TURN), .duration = at(WIDE));
}
static void sights(void) {
  ASK(carom_test_lines_of_sight, carom_sights, BOTH, .ax = at(X), .ay = at(Y), .bx = at(NEAR_X),
      .by = at(NEAR_Y));
}
static void fans(void) {
  ASK(carom_scan_fans, carom_fans, BOTH, .x = at(X), .y = at(Y), .angle = at(ANGLE),
      .step = at(SMALL), .range = at(LARGE), .beams = choice(BEAMS));
}
/* A few scanners of many beams, which the library casts in another way. */
static void wide_fans(void) {
  const size_t all = items;
  items = all < 64 ? all : 64;
  for (size_t i = 0; i < items; ++i) numbers[FINE][i] /= 64;
  ASK(carom_scan_fans, carom_fans, BOTH, .x = at(X), .y = at(Y), .angle = at(ANGLE),
      .step = at(FINE), .range = at(FAR_RANGE), .beams = choice(MANY_BEAMS));
  items = all;
}
static void slides(void) {
  ASK(carom_slide_shapes, carom_slides, .movers = placed(SHAPE), .dx = at(DX), .dy = at(DY));
}
static void bounces(void) {
  ASK(carom_bounce_segments, carom_bounces, .ax = at(X), .ay = at(Y), .bx = at(FAR_X),
      .by = at(FAR_Y));
}
static void ray_bounces(void) {
  ASK(carom_bounce_rays, carom_ray_bounces, .x = at(X), .y = at(Y), .dx = at(DX), .dy = at(UP));
}
static void areas(void) {
  ASK(carom_find_areas, carom_areas, BOTH, .x = at(X), .y = at(Y), .range = at(LARGE));
}
static void sees(void) {
  ASK(carom_find_seen, carom_sees, .x = at(X), .y = at(Y), .range = at(LARGE));
  ASK(carom_find_seen, carom_sees, .margin = 0.5, .x = at(X), .y = at(Y), .range = at(LARGE));
}
/* Trackers at poses, and a little further. */
static void moves(void) {
  const carom_placed start = placed(SHAPE);
  const carom_tracker_definitions definitions = {
      sizeof definitions, 0, shapes, start.shape, {0}, 0, 1};
  check(carom_trackers_define(world.trackers, (carom_u32_column){0}, &definitions, &status));
  ASK(carom_move_trackers, carom_moves, .x = start.x, .y = start.y, .angle = start.angle);
  ASK(carom_move_trackers, carom_moves, CAROM_OVERLAP_DETAIL_EDGES, .x = at(HIGH_X),
      .y = at(HIGH_Y), .angle = start.angle, .from_x = start.x, .from_y = start.y);
}

static const struct {
  const char* name;
  void (*ask)(void);
} questions[] = {{"segments", segments},
                 {"passages", passages},
                 {"rays", rays},
                 {"points", points},
                 {"circles", circles},
                 {"capsules", capsules},
                 {"boxes", boxes},
                 {"polygons", polygons},
                 {"distances", distances},
                 {"within", within},
                 {"contacts", contacts},
                 {"body contacts", body_contacts},
                 {"depenetrations", depenetrations},
                 {"sweeps", sweeps},
                 {"blocking", blocking},
                 {"rotating sweeps", rotating},
                 {"arcs", arcs},
                 {"sights", sights},
                 {"fans", fans},
                 {"wide fans", wide_fans},
                 {"slides", slides},
                 {"bounces", bounces},
                 {"ray bounces", ray_bounces},
                 {"areas", areas},
                 {"sees", sees},
                 {"moves", moves}};

int main(int count, char** arguments) {
  const unsigned long asked = count > 1 ? strtoul(arguments[1], NULL, 10) : 2048;
  if (asked < 1 || asked > MOST_ITEMS)
    return fprintf(stderr, "library_digest [ITEMS]: 1 to %d\n", MOST_ITEMS), 2;
  make_world();
  items = asked;
  for (size_t i = 0; i < sizeof questions / sizeof *questions; ++i) {
    draw_columns();
    questions[i].ask();
    printf("%-16s %016" PRIx64 "\n", questions[i].name, carom_answers_digest(answers));
  }
  return 0;
}
