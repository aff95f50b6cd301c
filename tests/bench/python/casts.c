/* SPDX-FileCopyrightText: The Carom authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long do casts of segments in batches take a program in C?
 *
 *   casts LIBRARY BUNDLE COLUMNS BATCHES SEGMENTS
 *
 * COLUMNS has, for each batch, the columns ax, ay, bx and by, with SEGMENTS doubles each. Each byte
 * that comes on standard input makes the program cast all batches once, with structs that it made
 * before, and read counts and fractions; it answers with a line: nanoseconds of CPU time, hits, and
 * the sum of all fractions. The library is opened by dlopen, so it is the file that Python opens.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "carom/carom.h"

static void* library;

static void* function(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "casts: no function %s\n", name);
    exit(1);
  }
  return found;
}

static void check(uint32_t code, const char* what) {
  if (code != CAROM_OK) {
    fprintf(stderr, "casts: %s failed with code %u\n", what, code);
    exit(1);
  }
}

static int64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static double* read_columns(const char* path, size_t count) {
  double* values = malloc(count * sizeof *values);
  FILE* file = fopen(path, "rb");
  if (values == NULL || file == NULL || fread(values, sizeof *values, count, file) != count) {
    fprintf(stderr, "casts: cannot read %zu doubles of %s\n", count, path);
    exit(1);
  }
  fclose(file);
  return values;
}

int main(int argc, char** argv) {
  if (argc != 6 || (library = dlopen(argv[1], RTLD_NOW)) == NULL) {
    fprintf(stderr, "usage: casts LIBRARY BUNDLE COLUMNS BATCHES SEGMENTS\n");
    return 2;
  }
  typeof(carom_scene_open_bundle)* open_bundle = function("carom_scene_open_bundle");
  typeof(carom_answers_create)* create_answers = function("carom_answers_create");
  typeof(carom_cast_segments)* cast = function("carom_cast_segments");
  typeof(carom_answers_read)* read_answers = function("carom_answers_read");

  const size_t batches = strtoul(argv[4], NULL, 10), length = strtoul(argv[5], NULL, 10);
  const double* columns = read_columns(argv[3], 4 * batches * length);
  carom_status status = {.struct_size = sizeof status};
  carom_scene* scene = NULL;
  carom_answers* answers = NULL;
  check(open_bundle(argv[2], NULL, &scene, &status), "carom_scene_open_bundle");
  check(create_answers(NULL, &answers, &status), "carom_answers_create");
  const carom_world world = {.struct_size = sizeof world, .scene = scene};

  while (getchar() != EOF) {
    uint64_t hits = 0;
    double sum = 0;
    int64_t taken = 0;
    for (size_t batch = 0; batch < batches; ++batch) {
      const double* at = columns + 4 * batch * length;
      const int64_t start = cpu_ns();
      carom_segments segments = {.struct_size = sizeof segments};
      segments.ax = (carom_f64_column){at, length, 1};
      segments.ay = (carom_f64_column){at + length, length, 1};
      segments.bx = (carom_f64_column){at + 2 * length, length, 1};
      segments.by = (carom_f64_column){at + 3 * length, length, 1};
      carom_cast_answers read = {.struct_size = sizeof read};
      check(cast(&world, &segments, answers, &status), "carom_cast_segments");
      check(read_answers(answers, CAROM_KIND_SEGMENTS, &read, &status), "carom_answers_read");
      taken += cpu_ns() - start;
      hits += read.fraction.length;
      for (size_t i = 0; i < read.fraction.length; ++i)
        sum += read.fraction.data[i * read.fraction.stride];
    }
    printf("%lld %llu %.17g\n", (long long)taken, (unsigned long long)hits, sum);
    fflush(stdout);
  }
  return 0;
}
