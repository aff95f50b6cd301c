/* SPDX-FileCopyrightText: The Carom authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ten questions about a square with a hole and a triangle, in C11: cc ten_questions.c -lcarom */
#include <carom/carom.h>
#include <math.h>
#include <stdio.h>

#define LIST(type, ...) {(type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__}) / sizeof(type), 1}
#define F64(...) LIST(double, __VA_ARGS__)
#define ASK(KIND, type, ...) {CAROM_KIND_##KIND, 0, &(type){sizeof(type), __VA_ARGS__}}
#define READ(KIND, type, name) type name = {.struct_size = sizeof name}; \
  carom_answers_read(answers, CAROM_KIND_##KIND, &name, NULL)
#define SHOW(label, column) printf(label); for (size_t i = 0; i < (column).length; ++i) \
  printf(" %.17g", (double)(column).data[i * (column).stride])

int main(void) {
  const double xy[] = {0, 0, 4, 0, 4, 4, 0, 4, 1, 1, 3, 1, 3, 3, 1, 3, 6, 0, 9, 0, 6, 3};
  const carom_polygons drawn = {sizeof drawn, .ring_count = LIST(uint32_t, 2, 1),
      .ring_size = LIST(uint32_t, 4, 4, 3), .x = {xy, 11, 2}, .y = {xy + 1, 11, 2}};
  const carom_capsules disc = {sizeof disc, 0, F64(0), F64(0), F64(0), F64(0), F64(0.5)};
  carom_status status = {.struct_size = sizeof status};
  carom_polygon_set* set; carom_scene* scene; carom_shapes* shapes; carom_answers* answers;
  if (carom_polygon_set_create(&drawn, NULL, &set, &status) ||
      carom_scene_create(set, 1, NULL, &scene, &status) ||
      carom_shapes_create(NULL, &disc, &shapes, &status) ||
      carom_answers_create(NULL, &answers, &status)) return puts(status.message);
  const carom_world world = {sizeof world, .scene = scene}; carom_polygon_set_destroy(set);
  carom_segments segment = {sizeof segment, .ax = F64(9), .ay = F64(3), .bx = F64(6), .by = F64(1)};
  if (carom_cast_segments(&world, &segment, answers, &status)) return puts(status.message);
  READ(SEGMENTS, carom_cast_answers, first); SHOW("1 segment:", first.polygon_id);
  SHOW(",", first.fraction); SHOW(",", first.normal_x); SHOW(",", first.normal_y);
  segment.bx.length = 0; carom_cast_segments(&world, &segment, answers, &status); /* question 9 */
  const carom_batch group[] = {
      ASK(SEGMENTS, carom_segments, .mode = CAROM_CAST_MODE_ALL_PASSAGES,
          .ax = F64(-1), .ay = F64(2), .bx = F64(10), .by = F64(2)),
      ASK(RAYS, carom_rays, .x = F64(2), .y = F64(2), .dx = F64(3), .dy = F64(1)),
      ASK(POINTS, carom_points, .x = F64(0.5, 2, 4, 5), .y = F64(0.5, 2, 2, NAN)),
      ASK(CIRCLES, carom_circles, .x = F64(5), .y = F64(2), .radius = F64(1)),
      ASK(SIGHTS, carom_sights, .ax = F64(5, 5), .ay = F64(5, 2), .bx = F64(5, 2), .by = F64(0, 2)),
      ASK(FANS, carom_fans, .x = F64(5), .y = F64(2), .angle = F64(-1), .step = F64(0.5),
          .range = F64(10), .beams = LIST(uint32_t, 5)),
      ASK(SWEEPS, carom_sweeps, .movers = {.shapes = shapes, .x = F64(7), .y = F64(6)},
          .to_x = F64(7), .to_y = F64(0))};
  if (carom_evaluate(&world, group, 7, answers, NULL)) return puts("the group is refused");
  READ(SEGMENTS, carom_cast_answers, all);
  SHOW("\n2 passages:", all.polygon_id); SHOW(",", all.fraction);
  READ(RAYS, carom_cast_answers, ray); SHOW("\n3 ray:", ray.fraction);
  READ(POINTS, carom_locate_answers, in); SHOW("\n4 points:", in.counts); SHOW(",", in.location);
  READ(CIRCLES, carom_overlap_answers, near); SHOW("\n5 disc:", near.touching);
  READ(SIGHTS, carom_sight_answers, sight); SHOW("\n6 sight:", sight.visible);
  READ(FANS, carom_fan_answers, fan); SHOW("\n7 fan:", fan.distances);
  READ(SWEEPS, carom_sweep_answers, sweep); SHOW("\n8 sweep:", sweep.fraction);
  printf("\n9 error: %s %s: %s", carom_code_name(status.code), status.field, status.message);
  printf("\n10 item %u: %s %s\ndigest %016llx\n", *in.error_index.data,
         carom_item_column_name(*in.error_column.data),
         carom_item_fault_description(*in.error_fault.data),
         (unsigned long long)carom_answers_digest(answers));
  carom_answers_destroy(answers); carom_shapes_destroy(shapes); carom_scene_destroy(scene);
}
