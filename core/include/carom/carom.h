/* SPDX-FileCopyrightText: The Carom authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* How does a program in C, or in a language that calls C, ask the collision core?
 *
 * One header in C11 for libcarom.so.1: exact 2D collision queries against scenes of polygons, in
 * the caller's process. Every answer has the same bits as that of the C++ headers, of `carom eval`
 * and of the service.
 *
 *   const double x[] = {0, 4, 4, 0}, y[] = {0, 0, 4, 4};
 *   carom_polygons square = {.struct_size = sizeof square};
 *   square.x = (carom_f64_column){x, 4, 1};
 *   square.y = (carom_f64_column){y, 4, 1};
 *   carom_polygon_set *polygons = NULL;
 *   carom_scene *scene = NULL;
 *   carom_polygon_set_create(&square, NULL, &polygons, NULL);
 *   carom_scene_create(polygons, 1, NULL, &scene, NULL);
 *
 * Lengths are in the unit of the caller's coordinates, which are finite and at most 2^53 in
 * magnitude; magnitudes below 2^-140 count as 0. Angles are in radians, counter-clockwise from +x.
 * Touching counts, except where a blocking policy says otherwise. The C++ header of each kind of
 * question (carom/cast.h, carom/sweep.h and so on) defines its answers in full; docs/c-abi.md is an
 * introduction.
 *
 * Memory. A handle is created by a function ending in `_create` or the like, and destroyed by its
 * `_destroy`, which accepts a null pointer. Columns and structs that a caller passes are read
 * during the call only. What is made from a handle keeps the data of that handle alive, so handles
 * may be destroyed in any order, but not while a call uses them. Threads run with the default
 * rounding mode, without FTZ and DAZ. The library starts no thread, reads no clock, and keeps no
 * state but its handles, and some scratch memory for each thread that calls it.
 *
 * Errors. A function that returns uint32_t returns a `carom_code`, except for `carom_abi_version`;
 * CAROM_OK is 0. Where the parameter `status` is not null, the function writes code, field path and
 * message to it, also after success; it writes nothing to a status with a `struct_size` below 8.
 * After an error, output parameters are unchanged and handles are as before, except that a
 * `carom_answers` is empty. An item of a question that cannot be answered, such as one with a NaN,
 * is no error of the call: the columns `error_index`, `error_column` and `error_fault` of the
 * answers list it. INVALID_ARGUMENT is the code for a null pointer that no comment allows, a NaN in
 * a polygon or capsule, columns of unequal length, a column of 2^32 elements or more, a number of
 * no enumeration, an option out of range, a reserved member that is not 0, or a handle of another
 * type. FAILED_PRECONDITION is the code for a handle that another call uses, where one call at a
 * time may use it. A destroyed handle must not be used: a release build need not detect it.
 *
 * Growth. Structs begin with `struct_size`, which the caller sets to sizeof the struct, and new
 * members are added at the end; a member that the caller's header lacks counts as 0. A struct that
 * is larger than that of the library is accepted if the bytes beyond are 0. Members that are 0 have
 * their default, so a struct is initialized by `{.struct_size = sizeof name}`. Enumerations are
 * uint32_t.
 *
 * Comments of columns and doubles begin with the unit in brackets: `length`, `radians`, `1` for a
 * number without unit. `optional` means that a question may leave the column empty; `where C` means
 * that an entry has no meaning where the column C is 0. A comment that begins with `These` is that
 * of all declarations up to the next comment or blank line. core/abi/describe.py makes
 * core/abi/carom_abi.json of all this, and refuses what it does not understand.
 *
 * Cost: some 40 ns a call more than the C++ function, and no allocation once the columns of
 * a `carom_answers` have grown. Cheaper alternative: the C++ headers. More powerful:
 * carom/client.h, which asks a server. */
#ifndef CAROM_CAROM_H_
#define CAROM_CAROM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define CAROM_API
#else
#define CAROM_API __attribute__((visibility("default")))
#endif

/* Major version times 65536, plus minor version. A library of the same major version and of a minor
 * version that is not lower serves a program that was compiled with this header. */
#define CAROM_ABI_VERSION 0x00010000u
/* Returns the CAROM_ABI_VERSION of the library that runs. */
CAROM_API uint32_t carom_abi_version(void);

/* --- Errors ---------------------------------------------------------------------------------- */

/* The codes of gRPC, with their numbers. */
enum carom_code {
  CAROM_OK = 0,
  CAROM_INVALID_ARGUMENT = 3,
  CAROM_DEADLINE_EXCEEDED = 4,   /* `max_work_units` were used up */
  CAROM_NOT_FOUND = 5,           /* an id or a file */
  CAROM_ALREADY_EXISTS = 6,      /* an id */
  CAROM_RESOURCE_EXHAUSTED = 8,  /* a limit, or memory */
  CAROM_FAILED_PRECONDITION = 9, /* a handle is used by another call; a file */
  CAROM_INTERNAL = 13,           /* a fault of the library */
  CAROM_DATA_LOSS = 15           /* a bundle is damaged */
};

/* Why a call failed. The texts end with a null character and are cut if they do not fit. */
typedef struct carom_status {
  uint32_t struct_size;
  uint32_t code;            /* a carom_code */
  uint32_t violation_count; /* number of faults, the first of which is described; 0: no field */
  char field[132];          /* path of the field, such as `segments.ay`; empty: the whole call */
  char message[368];        /* what is wrong, and the accepted range */
} carom_status;

/* Returns the name of a code, such as "INVALID_ARGUMENT"; "UNKNOWN" for other numbers. Static. */
CAROM_API const char* carom_code_name(uint32_t code);

/* --- Columns --------------------------------------------------------------------------------- */

/* These have `length` elements, of which element i is data[i * stride]. The stride counts elements,
 * not bytes; 0 means 1. `data` may be null if the length is 0; otherwise, it is aligned to the size
 * of an element. */
typedef struct carom_f64_column {
  const double* data;
  size_t length;
  size_t stride;
} carom_f64_column;
typedef struct carom_u64_column {
  const uint64_t* data;
  size_t length;
  size_t stride;
} carom_u64_column;
typedef struct carom_u32_column {
  const uint32_t* data;
  size_t length;
  size_t stride;
} carom_u32_column;
typedef struct carom_u8_column {
  const uint8_t* data;
  size_t length;
  size_t stride;
} carom_u8_column;

/* These copy a column, of an answer for example, to contiguous memory of the caller, which has room
 * for `capacity` elements. INVALID_ARGUMENT, and nothing is copied, if the column is longer or a
 * pointer is null or not aligned. O(length). Thread-safe. */
CAROM_API uint32_t carom_f64_copy(carom_f64_column column, double* out, size_t capacity);
CAROM_API uint32_t carom_u64_copy(carom_u64_column column, uint64_t* out, size_t capacity);
CAROM_API uint32_t carom_u32_copy(carom_u32_column column, uint32_t* out, size_t capacity);
CAROM_API uint32_t carom_u8_copy(carom_u8_column column, uint8_t* out, size_t capacity);

/* Bytes that the library wrote, such as a bundle or an SVG document. Not thread-safe. */
typedef struct carom_buffer carom_buffer;
/* Makes an empty buffer. */
CAROM_API uint32_t carom_buffer_create(carom_buffer** out, carom_status* status);
CAROM_API void carom_buffer_destroy(carom_buffer* buffer);
/* These return the bytes, valid until the next call that writes to the buffer or destroys it, and
 * their number; null and 0 for a null pointer. No null character need follow the bytes. */
CAROM_API const char* carom_buffer_data(const carom_buffer* buffer);
CAROM_API size_t carom_buffer_size(const carom_buffer* buffer);

/* --- Polygons and shapes --------------------------------------------------------------------- */

/* Which points are filled: those with an odd winding number over all rings, or with one that is not
 * 0. */
enum carom_fill_rule {
  CAROM_FILL_RULE_EVEN_ODD = 1,
  CAROM_FILL_RULE_NON_ZERO = 2
}; /* 0: even-odd */
/* Which points belong to a polygon: the edges and the filled region, or the edges alone, which
 * makes a hollow polygon. */
enum carom_solidity { CAROM_SOLIDITY_SOLID = 1, CAROM_SOLIDITY_BOUNDARY = 2 }; /* 0: solid */

/* Polygons in columns. Polygon i has ring_count[i] rings. The sizes of all rings follow one another
 * in `ring_size`, and the vertices of all rings in `x` and `y`. A polygon has at least one ring,
 * and a ring at least one vertex; a closing vertex that equals the first one is dropped. */
typedef struct carom_polygons {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u64_column id;         /* [1, optional] empty: 0, 1, 2 and so on */
  carom_u32_column ring_count; /* [1, optional] empty: one ring a polygon */
  carom_u32_column ring_size;  /* [1, optional] vertices of each ring; empty: one ring in all */
  carom_f64_column x;          /* [length] */
  carom_f64_column y;          /* [length] */
  carom_u8_column open;      /* [1, optional] 1: an open chain, hollow polygons only; empty: none */
  carom_u8_column fill_rule; /* [1, optional] carom_fill_rule of each polygon; empty: 0 */
  carom_u8_column solidity;  /* [1, optional] carom_solidity of each polygon; empty: 0 */
  carom_u64_column category; /* [1, optional] bits compared with masks; 0: never met; empty: 1 */
  carom_u32_column user_data_size; /* [1, optional] bytes of user data of each polygon; empty: 0 */
  carom_u8_column user_data;       /* [1, optional] the bytes, polygon after polygon */
} carom_polygons;

/* Limits of what a call may build; 0: the default. */
typedef struct carom_limits {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t max_polygons;         /* of a set or a scene; default 4,194,304 */
  uint64_t max_vertices;         /* of a set or a scene; default 16,777,216 */
  uint64_t max_polygon_vertices; /* of one polygon; default 1,048,576 */
  uint64_t max_user_data_bytes;  /* of one polygon; default 4,096 */
} carom_limits;

/* An immutable list of polygons. Thread-safe. */
typedef struct carom_polygon_set carom_polygon_set;
/* Makes a list of polygons, whose ids need not differ. `limits` may be null. INVALID_ARGUMENT with
 * a path such as `polygons[3].rings[0].x[7]` or, for a column, `polygons.ring_size`;
 * RESOURCE_EXHAUSTED above the limits. O(vertices). */
CAROM_API uint32_t carom_polygon_set_create(const carom_polygons* polygons,
                                            const carom_limits* limits, carom_polygon_set** out,
                                            carom_status* status);
CAROM_API void carom_polygon_set_destroy(carom_polygon_set* set);
/* Returns the number of polygons; 0 for a null pointer. */
CAROM_API size_t carom_polygon_set_size(const carom_polygon_set* set);

/* Capsules: all points within `radius` of a segment. A radius of 0 makes segments, equal ends make
 * discs or points. */
typedef struct carom_capsules {
  uint32_t struct_size;
  uint32_t reserved;
  carom_f64_column ax, ay; /* [length] */
  carom_f64_column bx, by; /* [length] */
  carom_f64_column radius; /* [length] at least 0 */
} carom_capsules;

/* Shapes that move, described about their reference point (0, 0): an immutable list. A shape has at
 * most 4,096 vertices: RESOURCE_EXHAUSTED where bodies, trackers or questions use a list with a
 * larger one. Thread-safe. */
typedef struct carom_shapes carom_shapes;
/* Makes the list of the polygons of `polygons`, in their order, and then of `capsules`. `polygons`
 * and `capsules` may be null. Categories and ids of the polygons have no effect. INVALID_ARGUMENT
 * with a path such as `capsules.radius[2]`. O(shapes). */
CAROM_API uint32_t carom_shapes_create(const carom_polygon_set* polygons,
                                       const carom_capsules* capsules, carom_shapes** out,
                                       carom_status* status);
CAROM_API void carom_shapes_destroy(carom_shapes* shapes);
/* Returns the number of shapes; 0 for a null pointer. */
CAROM_API size_t carom_shapes_size(const carom_shapes* shapes);

/* --- Scenes ---------------------------------------------------------------------------------- */

/* An immutable snapshot of a set of polygons with an index. Thread-safe. */
typedef struct carom_scene carom_scene;

/* Makes a scene of polygons with different ids. `version` is the caller's number, which the library
 * only returns. `limits` may be null. INVALID_ARGUMENT with the path `polygons[i].id` for an id
 * that occurs twice; RESOURCE_EXHAUSTED above `max_polygons` or `max_vertices`. O(n log n) for n
 * polygons. */
CAROM_API uint32_t carom_scene_create(const carom_polygon_set* polygons, uint64_t version,
                                      const carom_limits* limits, carom_scene** out,
                                      carom_status* status);
/* Makes another handle of the same snapshot. O(1). */
CAROM_API uint32_t carom_scene_copy(const carom_scene* scene, carom_scene** out,
                                    carom_status* status);
/* As `carom_scene_copy`, with another version number. O(1). */
CAROM_API uint32_t carom_scene_with_version(const carom_scene* scene, uint64_t version,
                                            carom_scene** out, carom_status* status);
CAROM_API void carom_scene_destroy(carom_scene* scene);

/* What one commit changes: polygons of `added` are new, those of `replaced` take the place of the
 * polygons with their ids, and those with the ids `removed` are removed. */
typedef struct carom_edits {
  uint32_t struct_size;
  uint32_t reserved;
  const carom_polygon_set* added;    /* may be null */
  const carom_polygon_set* replaced; /* may be null */
  carom_u64_column removed;          /* [1, optional] */
  uint64_t version;                  /* the caller's number for the scene after the edits */
} carom_edits;

/* Makes the scene after the edits; `scene` stays as it is, and both share what the edits do not
 * change. INVALID_ARGUMENT for an id that occurs twice in the edits, ALREADY_EXISTS for an added id
 * that exists, NOT_FOUND for a replaced or removed id that does not, each with the path `edits[i]`,
 * where i counts added, then replaced, then removed polygons; RESOURCE_EXHAUSTED above
 * `max_polygons` or `max_vertices`. Each edit rewrites some hundred polygons of the index; edits of
 * half of the scene, or far outside of it, cost as much as `carom_scene_create`. */
CAROM_API uint32_t carom_scene_commit(const carom_scene* scene, const carom_edits* edits,
                                      const carom_limits* limits, carom_scene** out,
                                      carom_status* status);

/* These return the version, the number of polygons and the number of vertices; 0 for a null
 * pointer. */
CAROM_API uint64_t carom_scene_version(const carom_scene* scene);
CAROM_API size_t carom_scene_polygon_count(const carom_scene* scene);
CAROM_API size_t carom_scene_vertex_count(const carom_scene* scene);

/* All points with x in [min_x, max_x] and y in [min_y, max_y]. Does not grow. */
typedef struct carom_box {
  double min_x, min_y, max_x, max_y; /* [length] an empty box has min_x > max_x */
} carom_box;
/* Sets `out` to the least box that contains all polygons; an empty box if there is none. O(1). */
CAROM_API uint32_t carom_scene_bounds(const carom_scene* scene, carom_box* out,
                                      carom_status* status);

/* One polygon of a scene. The pointer is valid as long as a handle of this scene exists, or of a
 * copy of it. */
typedef struct carom_polygon {
  uint32_t struct_size;
  uint32_t fill_rule; /* a carom_fill_rule */
  uint32_t solidity;  /* a carom_solidity */
  uint32_t reserved;
  uint64_t id;
  uint64_t category;
  size_t ring_count;
  size_t user_data_size; /* number of bytes */
  const char* user_data; /* not ended by a null character */
} carom_polygon;
/* Describes polygon `index`, in [0, polygon count), in ascending order of ids. INVALID_ARGUMENT for
 * another index. O(1). */
CAROM_API uint32_t carom_scene_polygon(const carom_scene* scene, size_t index, carom_polygon* out,
                                       carom_status* status);
/* Sets `out` to the index of the polygon with the id `id`. NOT_FOUND if there is none. O(log n). */
CAROM_API uint32_t carom_scene_find(const carom_scene* scene, uint64_t id, size_t* out,
                                    carom_status* status);

/* One ring of a polygon of a scene, without a closing duplicate. The columns have a stride above 1
 * and are valid as long as a handle of this scene exists, or of a copy of it. */
typedef struct carom_ring {
  uint32_t struct_size;
  uint32_t open;      /* 1: an open chain */
  carom_f64_column x; /* [length] */
  carom_f64_column y; /* [length] */
} carom_ring;
/* Describes ring `ring`, in [0, ring count), of polygon `polygon`, in [0, polygon count).
 * INVALID_ARGUMENT for other numbers. O(1). */
CAROM_API uint32_t carom_scene_ring(const carom_scene* scene, size_t polygon, size_t ring,
                                    carom_ring* out, carom_status* status);

/* These read and write bundles, the file format of scenes (docs/bundle.md). `limits` may be null.
 * `size` is the number of bytes, which are read during the call only; a buffer loses what it had.
 * INVALID_ARGUMENT for bytes that are no bundle, DATA_LOSS for a damaged bundle, RESOURCE_EXHAUSTED
 * above the limits. `path` is a path of the file system, in UTF-8; NOT_FOUND if it cannot be
 * read, FAILED_PRECONDITION if it cannot be written, with the field path `path`. A file is
 * mapped into memory while it is read: no process may shorten it during the call. A file is written
 * beside `path` and then renamed, so an error leaves the old file. A scene from a bundle has
 * version 1 (see `carom_scene_with_version`). */
CAROM_API uint32_t carom_scene_from_bundle(const void* bytes, size_t size,
                                           const carom_limits* limits, carom_scene** out,
                                           carom_status* status);
CAROM_API uint32_t carom_scene_open_bundle(const char* path, const carom_limits* limits,
                                           carom_scene** out, carom_status* status);
CAROM_API uint32_t carom_scene_to_bundle(const carom_scene* scene, carom_buffer* out,
                                         carom_status* status);
CAROM_API uint32_t carom_scene_save_bundle(const carom_scene* scene, const char* path,
                                           carom_status* status);

/* --- Bodies and trackers --------------------------------------------------------------------- */

/* What a question is asked against. 0: the scene. */
enum carom_against { CAROM_AGAINST_SCENE = 1, CAROM_AGAINST_BODIES = 2, CAROM_AGAINST_BOTH = 3 };

/* Which polygons and bodies the items of a batch consider. Questions without a scope consider the
 * polygons of the scene, but for body contacts. Does not grow. */
typedef struct carom_scope {
  uint32_t against; /* a carom_against */
  uint32_t reserved;
  carom_u64_column masks; /* [1, optional] masks[i] replaces `mask` for item i; 0 here: nothing */
  carom_u32_column
      ignore_owner; /* [1, optional] item i ignores bodies of this owner; 0, empty: none */
} carom_scope;

/* Shapes at poses: item i is shape[i] of `shapes` at (x[i], y[i]), turned about its reference point
 * by the rotation (c, s) or by the angle. |c^2 + s^2 - 1| is at most 10^-6, |angle| at most 2^20.
 * Does not grow. */
typedef struct carom_placed {
  const carom_shapes* shapes; /* may be null: no shapes */
  carom_u32_column shape;     /* [1, optional] index into shapes; empty: shape i, one an item */
  carom_f64_column x, y;      /* [length] */
  carom_f64_column c, s;      /* [1, optional] cosine and sine; empty, as angle: not turned */
  carom_f64_column angle;     /* [radians, optional] in place of c and s, then empty */
} carom_placed;

/* Shapes that questions may hit beside the polygons of a scene: the players of a tick, doors. */
typedef struct carom_body_columns {
  uint32_t struct_size;
  uint32_t reserved;
  carom_placed placed;
  carom_u64_column category; /* [1, optional] bits compared with masks; 0: never met; empty: 1 */
  carom_u32_column owner;    /* [1, optional] see carom_scope.ignore_owner; 0 or empty: none */
} carom_body_columns;

/* Placed bodies, at most 4,096, and at most 65,536 vertices in all. One call at a time may use
 * them. */
typedef struct carom_bodies carom_bodies;
/* Places bodies. INVALID_ARGUMENT with a path such as `bodies.placed.x[1]`; RESOURCE_EXHAUSTED
 * above the limits of carom_bodies. O(n log n) for n bodies. */
CAROM_API uint32_t carom_bodies_create(const carom_body_columns* columns, carom_bodies** out,
                                       carom_status* status);
/* Replaces all bodies, in the same handle: for the next tick. Errors and cost are those of
 * `carom_bodies_create`; after an error the bodies are as before. */
CAROM_API uint32_t carom_bodies_place(carom_bodies* bodies, const carom_body_columns* columns,
                                      carom_status* status);
CAROM_API void carom_bodies_destroy(carom_bodies* bodies);
/* Returns the number of bodies; 0 for a null pointer. */
CAROM_API size_t carom_bodies_size(const carom_bodies* bodies);

/* Bodies with their poses by tick, for shots where their shooters saw the others: a question
 * considers them as they were at the moment `as_of` of each item, also between two ticks
 * (carom/body_history.h). */
typedef struct carom_body_history carom_body_history;
/* The rotation between two ticks: that of the nearest tick, the later one at the half, or the angle
 * between, turning the shorter way, for ticks without c and s. 0: nearest. */
enum carom_body_rotation { CAROM_BODY_ROTATION_NEAREST = 1, CAROM_BODY_ROTATION_LINEAR = 2 };

/* The bodies of a history, which never change. There are as many as entries in `shape` or, if that
 * is empty, as shapes. */
typedef struct carom_body_definition {
  uint32_t struct_size;
  uint32_t keep_ticks;        /* ticks that are kept, the last that came; in [1, 256]; 0: 64 */
  const carom_shapes* shapes; /* may be null: no bodies */
  carom_u32_column shape;     /* [1, optional] index into shapes; empty: shape i */
  carom_u64_column category;  /* [1, optional] bits compared with masks; 0: never met; empty: 1 */
  carom_u32_column owner;     /* [1, optional] see carom_scope.ignore_owner; 0 or empty: none */
} carom_body_definition;
/* Makes a history without ticks. INVALID_ARGUMENT with a path such as `body_history.shape[1]`, and
 * for a shape that reaches farther than 2^51 from its reference point; RESOURCE_EXHAUSTED above the
 * limits of carom_bodies. The history keeps the shapes. One call at a time may use it. */
CAROM_API uint32_t carom_body_history_create(const carom_body_definition* definition,
                                             carom_body_history** out, carom_status* status);
CAROM_API void carom_body_history_destroy(carom_body_history* history);

/* The poses of all bodies at one tick. Rotations, c and s or the angle, are in all ticks of
 * a history or in none. Bit i % 64 of word i / 64 belongs to body i. */
typedef struct carom_body_poses {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t tick;               /* number of the tick, in [0, 2^53] */
  carom_f64_column x, y;       /* [length] at most 2^52 in magnitude */
  carom_f64_column c, s;       /* [1, optional] cosine and sine; empty, as angle: not turned */
  carom_f64_column angle;      /* [radians, optional] in place of c and s, then empty */
  carom_u64_column alive;      /* [1, optional] bits; others are met by nothing; empty: all */
  carom_u64_column teleported; /* [1, optional] bits: not moved from the tick before; empty: none */
} carom_body_poses;
/* Adds a tick above all earlier ones, and drops the oldest if more than `keep_ticks` are kept.
 * A tick that is kept changes nothing with the same poses; nor does one below all that are kept.
 * INVALID_ARGUMENT, and no change, with a path such as `poses.x[1]`, and `poses.tick` for a kept
 * tick with other poses and for one that was left out between two others. O(bodies). */
CAROM_API uint32_t carom_body_history_add(carom_body_history* history,
                                          const carom_body_poses* poses, carom_status* status);
/* These return the number of bodies, the number of ticks that are kept, and the first and the last
 * of these ticks; 0 for a null pointer, without ticks, and while another call uses the history. */
CAROM_API size_t carom_body_history_size(const carom_body_history* history);
CAROM_API size_t carom_body_history_tick_count(const carom_body_history* history);
CAROM_API uint64_t carom_body_history_oldest_tick(const carom_body_history* history);
CAROM_API uint64_t carom_body_history_newest_tick(const carom_body_history* history);

/* Shapes with a memory of what is near them, so that a small move costs next to nothing, and
 * memories of eyes, of areas and observers, by number. A memory never changes an answer. One call
 * at a time may use a table. A call that moves trackers, or asks for eyes with numbers, drops
 * memories that were not used in 256 such calls: ask for all eyes of a tick by one call. */
typedef struct carom_trackers carom_trackers;
/* Makes an empty table. `max_trackers`, at most 2^24: the handles of trackers, which the caller
 * chooses, are below this number, and so are the numbers of eyes that have a memory; 0: 65,536.
 * `max_bytes` limits the bytes of the table with all shapes and memories, of which eyes take at
 * most a quarter; 0: 64 MiB. */
CAROM_API uint32_t carom_trackers_create(uint64_t max_trackers, uint64_t max_bytes,
                                         carom_trackers** out, carom_status* status);
CAROM_API void carom_trackers_destroy(carom_trackers* trackers);
/* Returns the bytes that the table has, with all shapes and memories; 0 for a null pointer. */
CAROM_API size_t carom_trackers_bytes(const carom_trackers* trackers);
/* Drops all memories: no answer changes, but the next moves take longer. Trackers stay defined. */
CAROM_API uint32_t carom_trackers_forget(carom_trackers* trackers, carom_status* status);

/* Trackers to define: item i is the tracker with the handle tracker[i] and the shape shape[i].
 * There are as many items as entries in `shape` or, if that is empty, as shapes. */
typedef struct carom_tracker_definitions {
  uint32_t struct_size;
  uint32_t
      first_tracker; /* handle of item 0 where `tracker` is empty; item i has first_tracker + i */
  const carom_shapes* shapes;
  carom_u32_column shape;   /* [1, optional] index into shapes; empty: shape i */
  carom_u32_column tracker; /* [1, optional] handle; empty: first_tracker + i */
  uint64_t mask;            /* categories of the polygons considered; 0: all */
  double within; /* [length] polygons at most this far away count as touched; in [0, 2^53] */
} carom_tracker_definitions;
/* Frees the handles `removed`, defined or not, then makes the definitions; `definitions` may be
 * null. A handle that is defined already gets the other tracker. After an error, nothing has
 * changed. INVALID_ARGUMENT for a handle that is defined twice in one call, an index outside of the
 * shapes or `within` out of range; RESOURCE_EXHAUSTED for a handle at or above `max_trackers`, or
 * shapes above 4,096 vertices or above `max_bytes` in all. O(vertices). */
CAROM_API uint32_t carom_trackers_define(carom_trackers* trackers, carom_u32_column removed,
                                         const carom_tracker_definitions* definitions,
                                         carom_status* status);

/* --- Questions ------------------------------------------------------------------------------- */

/* The kinds of questions, with the struct of their questions, the struct of their answers, and the
 * function that asks them: KIND(number, name, question, answers, function). */
#define CAROM_KINDS(KIND)                                                                       \
  KIND(1, SEGMENTS, carom_segments, carom_cast_answers, carom_cast_segments)                    \
  KIND(2, POINTS, carom_points, carom_locate_answers, carom_locate_points)                      \
  KIND(3, CIRCLES, carom_circles, carom_overlap_answers, carom_overlap_circles)                 \
  KIND(4, POLYGONS, carom_polygon_overlaps, carom_overlap_answers, carom_overlap_polygons)      \
  KIND(5, RAYS, carom_rays, carom_cast_answers, carom_cast_rays)                                \
  KIND(6, CAPSULES, carom_capsule_overlaps, carom_overlap_answers, carom_overlap_capsules)      \
  KIND(7, BOXES, carom_boxes, carom_overlap_answers, carom_overlap_boxes)                       \
  KIND(8, DISTANCES, carom_distances, carom_distance_answers, carom_measure_distances)          \
  KIND(9, CONTACTS, carom_contacts, carom_contact_answers, carom_find_contacts)                 \
  KIND(10, DEPENETRATIONS, carom_depenetrations, carom_depenetrate_answers, carom_depenetrate)  \
  KIND(11, SWEEPS, carom_sweeps, carom_sweep_answers, carom_sweep_shapes)                       \
  KIND(12, ROTATING_SWEEPS, carom_rotating_sweeps, carom_rotating_sweep_answers,                \
       carom_sweep_rotating)                                                                    \
  KIND(13, ARCS, carom_arcs, carom_arc_answers, carom_cast_arcs)                                \
  KIND(14, SIGHTS, carom_sights, carom_sight_answers, carom_test_lines_of_sight)                \
  KIND(15, FANS, carom_fans, carom_fan_answers, carom_scan_fans)                                \
  KIND(16, MOVES, carom_moves, carom_move_answers, carom_move_trackers)                         \
  KIND(17, SLIDES, carom_slides, carom_slide_answers, carom_slide_shapes)                       \
  KIND(18, BOUNCES, carom_bounces, carom_bounce_answers, carom_bounce_segments)                 \
  KIND(19, BODY_CONTACTS, carom_body_contacts, carom_contact_answers, carom_find_body_contacts) \
  KIND(20, RAY_BOUNCES, carom_ray_bounces, carom_ray_bounce_answers, carom_bounce_rays)         \
  KIND(21, AREAS, carom_areas, carom_area_answers, carom_find_areas)                            \
  KIND(22, SEES, carom_sees, carom_see_answers, carom_find_seen)

enum carom_kind {
#define CAROM_KIND_NUMBER(number, name, question, answers, function) CAROM_KIND_##name = (number),
  CAROM_KINDS(CAROM_KIND_NUMBER)
#undef CAROM_KIND_NUMBER
};

/* Which hits are reported (carom/cast.h). 0: closest. */
enum carom_cast_mode {
  CAROM_CAST_MODE_ANY = 1, /* whether there is a hit: counts are 0 or 1, without entries */
  CAROM_CAST_MODE_CLOSEST = 2,
  CAROM_CAST_MODE_ALL = 3,         /* one hit a polygon, at most max_hits */
  CAROM_CAST_MODE_ALL_PASSAGES = 4 /* one hit a passage, at most max_hits; segments and rays only */
};
/* What is reported for a polygon that contains the start (carom/cast.h, carom/sweep.h). Under the
 * blocking policies, shapes that only touch do not hit. 0: report start; for slides, blocking
 * leave. */
enum carom_inside_policy {
  CAROM_INSIDE_POLICY_REPORT_START = 1,
  CAROM_INSIDE_POLICY_IGNORE = 2,
  CAROM_INSIDE_POLICY_EXIT = 3,
  CAROM_INSIDE_POLICY_BLOCKING = 4,      /* sweeps and slides only */
  CAROM_INSIDE_POLICY_BLOCKING_LEAVE = 5 /* sweeps and slides only */
};
/* What is hit: the polygons, or the bounding box of each (carom/cast.h). */
enum carom_cast_target {
  CAROM_CAST_TARGET_POLYGONS = 1,
  CAROM_CAST_TARGET_BOUNDS = 2
}; /* 0: polygons */
/* How much of a hit is computed, each detail with those before it; columns that are not computed
 * have entries of 0 (carom/cast.h). 0: exit. */
enum carom_cast_detail {
  CAROM_CAST_DETAIL_FRACTION = 1,
  CAROM_CAST_DETAIL_NORMAL = 2,
  CAROM_CAST_DETAIL_EDGE = 3,
  CAROM_CAST_DETAIL_EXIT = 4
};
/* What is answered: ids alone, or also the edges that share a point with the shape. */
enum carom_overlap_detail {
  CAROM_OVERLAP_DETAIL_IDS = 1,
  CAROM_OVERLAP_DETAIL_EDGES = 2
}; /* 0: ids */
/* Which polygons are answered: those tied at the least distance; all within `max_distance`; the
 * same, but ids alone; or the first `k` of them, nearest first (carom/distance.h). 0: nearest. */
enum carom_distance_mode {
  CAROM_DISTANCE_MODE_NEAREST = 1,
  CAROM_DISTANCE_MODE_ALL = 2,
  CAROM_DISTANCE_MODE_WITHIN = 3,
  CAROM_DISTANCE_MODE_NEAREST_K = 4
};
/* Whether moves use the memories of trackers. */
enum carom_coherence { CAROM_COHERENCE_ON = 1, CAROM_COHERENCE_OFF = 2 }; /* 0: on */

/* `mask`, in every question but moves: polygons and bodies with (category & mask) != 0 are
 * considered; 0: all of a category other than 0. The columns of a batch have one entry an item, so
 * equal lengths, unless said otherwise; those that are optional may be empty. Flags are 0 or 1. A
 * batch without items is answered without entries. */

/* Segments from a to b: bullets of one tick. */
typedef struct carom_segments {
  uint32_t struct_size;
  uint32_t mode;          /* a carom_cast_mode */
  uint32_t inside_policy; /* a carom_inside_policy */
  uint32_t target;        /* a carom_cast_target */
  uint32_t detail;        /* a carom_cast_detail */
  uint32_t reflect;       /* 1: fills the reflections; `detail` is normal at least */
  uint32_t max_hits;      /* for each segment, under both ALL modes; in [1, 65536]; 0: 64 */
  uint32_t reserved;
  uint64_t mask;
  carom_scope scope;
  carom_f64_column ax, ay; /* [length] */
  carom_f64_column bx, by; /* [length] */
  uint64_t soft_mask;      /* categories of soft walls, of which a line passes some; 0: none */
  uint32_t soft_count;     /* passages of soft walls that a line passes; in [0, 16] */
  uint32_t soft_length;    /* 1: fills soft_length; the mode is closest */
  carom_f64_column as_of;  /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_segments;

/* Rays from (x, y) in the direction (dx, dy), of any length but 0: the points (x, y) + t (dx, dy)
 * for t in [t_min, t_max]. */
typedef struct carom_rays {
  uint32_t struct_size;
  uint32_t mode;          /* a carom_cast_mode */
  uint32_t inside_policy; /* a carom_inside_policy */
  uint32_t target;        /* a carom_cast_target */
  uint32_t detail;        /* a carom_cast_detail */
  uint32_t reflect;       /* 1: fills the reflections; `detail` is normal at least */
  uint32_t max_hits;      /* for each ray, under both ALL modes; in [1, 65536]; 0: 64 */
  uint32_t reserved;
  uint64_t mask;
  carom_scope scope;
  carom_f64_column x, y;   /* [length] */
  carom_f64_column dx, dy; /* [length] */
  carom_f64_column t_min;  /* [1, optional] at least 0, finite; empty: 0 */
  carom_f64_column t_max;  /* [1, optional] above t_min; empty: infinity */
  uint64_t soft_mask;      /* categories of soft walls, of which a line passes some; 0: none */
  uint32_t soft_count;     /* passages of soft walls that a line passes; in [0, 16] */
  uint32_t soft_length;    /* 1: fills soft_length; the mode is closest */
  carom_f64_column as_of;  /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_rays;

/* Which polygons contain the points? */
typedef struct carom_points {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t mask;
  carom_scope scope;
  carom_f64_column x, y;  /* [length] */
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_points;

/* Which polygons do discs with the centres (x, y) touch? */
typedef struct carom_circles {
  uint32_t struct_size;
  uint32_t detail; /* a carom_overlap_detail */
  uint64_t mask;
  carom_scope scope;
  carom_f64_column x, y;   /* [length] */
  carom_f64_column radius; /* [length] at least 0 */
  carom_f64_column as_of;  /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_circles;

/* Which polygons do capsules touch? */
typedef struct carom_capsule_overlaps {
  uint32_t struct_size;
  uint32_t detail; /* a carom_overlap_detail */
  uint64_t mask;
  carom_scope scope;
  carom_f64_column ax, ay; /* [length] */
  carom_f64_column bx, by; /* [length] */
  carom_f64_column radius; /* [length] at least 0 */
  carom_f64_column as_of;  /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_capsule_overlaps;

/* Which polygons do boxes touch? */
typedef struct carom_boxes {
  uint32_t struct_size;
  uint32_t detail; /* a carom_overlap_detail */
  uint64_t mask;
  carom_scope scope;
  carom_f64_column min_x, min_y; /* [length] */
  carom_f64_column max_x, max_y; /* [length] not below the minimum */
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_boxes;

/* Which polygons do placed polygons touch? Capsules among the shapes are errors of their items. */
typedef struct carom_polygon_overlaps {
  uint32_t struct_size;
  uint32_t detail; /* a carom_overlap_detail */
  uint64_t mask;
  carom_scope scope;
  carom_placed movers;
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_polygon_overlaps;

/* How far are shapes from the nearest polygon, from all within a distance, or which are near? */
typedef struct carom_distances {
  uint32_t struct_size;
  uint32_t mode; /* a carom_distance_mode */
  uint64_t mask;
  carom_scope scope;
  carom_placed movers;
  carom_f64_column max_distance; /* [length, optional] in [0, infinity]; empty: infinity */
  uint32_t k; /* entries an item has at most under NEAREST_K; in [1, 1024]; 0: 1 */
  uint32_t reserved;
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_distances;

/* Where and how deep do shapes and polygons meet? Hollow polygons and shapes have no contacts. Of
 * the masses, both columns are given or none, and at most one mass of an item is infinite. */
typedef struct carom_contacts {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t mask;
  carom_scope scope;
  carom_placed movers;
  carom_f64_column mass; /* [mass, optional] of the mover, above 0; fills the split columns */
  carom_f64_column polygon_mass; /* [mass, optional] of all that item i meets; above 0 */
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_contacts;

/* How do bodies meet the bodies of a lower index? Polygons of the scene are not considered, and the
 * mask is compared with the category of the body of the lower index. */
typedef struct carom_body_contacts {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t mask;
  carom_u32_column body; /* [1] index of the body of item i */
  carom_f64_column mass; /* [mass, optional] one a body of the world, not an item; above 0 */
} carom_body_contacts;

/* How do shapes get out of the polygons in which they are stuck? */
typedef struct carom_depenetrations {
  uint32_t struct_size;
  uint32_t max_steps; /* limit of pushes for each item; in [1, 1024]; 0: 64 */
  uint64_t mask;
  carom_placed movers;
} carom_depenetrations;

/* What do shapes run into that move straight, without turning, to (to_x, to_y) or by (dx, dy)? */
typedef struct carom_sweeps {
  uint32_t struct_size;
  uint32_t mode;          /* a carom_cast_mode, but for ALL_PASSAGES */
  uint32_t inside_policy; /* a carom_inside_policy; the blocking ones fill safe_x and safe_y */
  uint32_t max_hits;      /* for each sweep, under ALL; in [1, 65536]; 0: 64 */
  uint64_t mask;
  carom_scope scope;
  carom_placed movers;
  carom_f64_column to_x, to_y; /* [length, optional] positions at the end */
  carom_f64_column dx, dy;     /* [length, optional] in place of to_x and to_y, then empty */
  carom_f64_column skin;  /* [length, optional] blocking only: gap to keep, at least 0; empty: 0 */
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_sweeps;

/* When do shapes that turn while they move first touch a polygon? They turn at a constant rate, the
 * shorter way; without to_c, to_s and to_angle, they keep the rotation of `movers`. */
typedef struct carom_rotating_sweeps {
  uint32_t struct_size;
  uint32_t
      start_policy; /* CAROM_INSIDE_POLICY_REPORT_START (0 too) or CAROM_INSIDE_POLICY_IGNORE */
  uint64_t mask;
  carom_placed movers;
  carom_f64_column to_x, to_y; /* [length] */
  carom_f64_column to_c, to_s; /* [1, optional] rotation at the end */
  carom_f64_column to_angle;   /* [radians, optional] in place of to_c and to_s, then empty */
  carom_f64_column tolerance;  /* [length] above 0; the least value: carom/rotating_sweep.h */
} carom_rotating_sweeps;

/* What do points on parabolas hit: p + v t + a t^2 / 2 for t in [0, duration]? */
typedef struct carom_arcs {
  uint32_t struct_size;
  uint32_t mode;          /* a carom_cast_mode, but for ALL_PASSAGES */
  uint32_t inside_policy; /* a carom_inside_policy, but for the blocking ones */
  uint32_t max_hits;      /* for each arc, under ALL; in [1, 65536]; 0: 64 */
  uint64_t mask;
  carom_scope scope;
  carom_f64_column x, y;     /* [length] */
  carom_f64_column vx, vy;   /* [length/time] */
  carom_f64_column ax, ay;   /* [length/time^2] */
  carom_f64_column duration; /* [time] in [0, 2^53] */
  carom_f64_column as_of;    /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_arcs;

/* Do the points a and b see each other? */
typedef struct carom_sights {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t mask;
  carom_scope scope;
  carom_f64_column ax, ay; /* [length] */
  carom_f64_column bx, by; /* [length] */
  uint64_t soft_mask;      /* categories of soft walls, of which a line passes some; 0: none */
  uint32_t soft_count;     /* passages of soft walls that a line passes; in [0, 16] */
  uint32_t reserved_2;
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_sights;

/* How far do the beams of scanners reach? Beam k of fan i has the angle angle[i] + k * step[i], of
 * at most 2^20 in magnitude. */
typedef struct carom_fans {
  uint32_t struct_size;
  uint32_t inside_policy; /* a carom_inside_policy, but for the blocking ones */
  uint64_t mask;
  carom_scope scope;
  carom_f64_column x, y;  /* [length] */
  carom_f64_column angle; /* [radians] */
  carom_f64_column step;  /* [radians] */
  carom_f64_column range; /* [length] of each beam; in [0, 2^53] */
  carom_u32_column beams; /* [1] number of beams; in [1, 65536] */
  uint64_t soft_mask;     /* categories of soft walls, of which a line passes some; 0: none */
  uint32_t soft_count;    /* passages of soft walls that a line passes; in [0, 16] */
  uint32_t reserved;
  carom_f64_column as_of; /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_fans;

/* What do trackers touch at a pose, and on the way to it? With from_x and from_y, moves are sweeps.
 * A shape turns on its way only with from_c and from_s, or from_angle. Polygons of the scene alone
 * are considered, by the mask of the tracker. */
typedef struct carom_moves {
  uint32_t struct_size;
  uint32_t detail;        /* a carom_overlap_detail */
  uint32_t coherence;     /* a carom_coherence */
  uint32_t quiet_radii;   /* 1: fills quiet_radius */
  uint32_t first_tracker; /* handle of item 0 where `tracker` is empty */
  uint32_t reserved;
  double tolerance; /* [length] of sweeps that turn; in [0, 2^53]; 0: 2^-10 of a shape's extent */
  carom_u32_column tracker; /* [1, optional] handle; empty: first_tracker + i */
  carom_f64_column x, y;    /* [length] */
  carom_f64_column c, s;    /* [1, optional] cosine and sine; empty, without angle: not turned */
  carom_f64_column angle;   /* [radians, optional] in place of c and s, then empty */
  carom_f64_column from_x,
      from_y; /* [length, optional] starts of sweeps; fills the touch columns */
  carom_f64_column from_c, from_s; /* [1, optional] rotation at the start; with from_x only */
  carom_f64_column from_angle; /* [radians, optional] in place of from_c and from_s, then empty */
} carom_moves;

/* Where do shapes get to that slide along what they meet? A slide is pushed by one displacement
 * (dx, dy) after the other, without turning. */
typedef struct carom_slides {
  uint32_t struct_size;
  uint32_t inside_policy; /* CAROM_INSIDE_POLICY_BLOCKING or _BLOCKING_LEAVE (0 too) */
  uint32_t max_contacts;  /* a push ends after so many; in [1, 8]; 0: 4 */
  uint32_t reserved;
  uint64_t mask;
  carom_scope scope;
  carom_placed movers;
  carom_f64_column dx, dy; /* [length] one entry a push, item after item */
  carom_u32_column pushes; /* [1, optional] displacements of item i, in [1, 4]; empty: 1 */
  carom_f64_column skin;   /* [length, optional] gap to keep, at least 0; empty: 0 */
  carom_f64_column as_of;  /* [ticks, optional] moment in the body history; empty: newest tick */
} carom_slides;

/* Where do segments go that are reflected at what they meet? */
typedef struct carom_bounces {
  uint32_t struct_size;
  uint32_t max_bounces; /* of each segment; in [1, 16]; 0: 4 */
  uint64_t mask;
  carom_f64_column ax, ay; /* [length] */
  carom_f64_column bx, by; /* [length] */
} carom_bounces;

/* Where do rays go that are reflected at what they meet? */
typedef struct carom_ray_bounces {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t mask;
  carom_f64_column x, y;        /* [length] */
  carom_f64_column dx, dy;      /* [length] */
  carom_f64_column t_max;       /* [1, optional] end of the ray, above 0; empty: infinity */
  carom_u32_column max_bounces; /* [1, optional] in [1, 16]; empty: 4 */
} carom_ray_bounces;

/* Which areas are visible from the eyes (x, y), at most as far as `range`? With from and to, an eye
 * sees the directions that a ray meets which turns counter-clockwise from `from` to `to`. */
typedef struct carom_areas {
  uint32_t struct_size;
  uint32_t
      inside_policy; /* CAROM_INSIDE_POLICY_REPORT_START (0 too) or CAROM_INSIDE_POLICY_IGNORE */
  uint32_t max_rows; /* limit of pieces for each eye; in [1, 65536]; 0: 4,096 */
  uint32_t reserved;
  uint64_t mask;
  carom_scope scope;
  carom_f64_column x, y;     /* [length] */
  carom_f64_column range;    /* [length] above 0 */
  carom_f64_column from, to; /* [radians, optional] from < to <= from + 2 pi; empty: all around */
  carom_f64_column as_of;    /* [ticks, optional] moment in the body history; empty: newest tick */
  carom_u32_column eye;      /* [1, optional] number of the eye: world.trackers has its memory */
} carom_areas;

/* Which bodies does each observer see, whose area is that of `carom_areas`? Bodies block no sight;
 * scope.against is 0 or CAROM_AGAINST_SCENE. */
typedef struct carom_sees {
  uint32_t struct_size;
  uint32_t
      inside_policy; /* CAROM_INSIDE_POLICY_REPORT_START (0 too) or CAROM_INSIDE_POLICY_IGNORE */
  double margin;     /* [length] by which each body grows first; in [0, 2^53] */
  uint64_t mask;     /* of the polygons that block */
  carom_scope scope;
  carom_f64_column x, y;     /* [length] */
  carom_f64_column range;    /* [length] above 0 */
  carom_f64_column from, to; /* [radians, optional] from < to <= from + 2 pi; empty: all around */
  carom_f64_column as_of;    /* [ticks, optional] moment in the body history; empty: newest tick */
  carom_u32_column eye;      /* [1, optional] number of the eye, as in carom_areas */
} carom_sees;

/* --- Answers --------------------------------------------------------------------------------- */

/* In each struct: counts[i] is the number of entries of item i in the columns of entries; the
 * entries of item 0 come first. An item in error has the count 0. Columns are empty if they were
 * not asked for, and columns of entries are empty under CAROM_CAST_MODE_ANY. Where `is_body` is 1,
 * `polygon_id` is the index of a body, otherwise the id of a polygon; for points, overlaps,
 * distances, contacts and fans, `is_body` is empty if the scope is the scene, and all ids are those
 * of polygons. Entries of 1 mean yes, of 0 no, in columns of uint8_t without an enumeration.
 * Normals are unit vectors, or (0, 0) where there is none. */

/* How a segment or ray meets the edge of a hit; none: no edge (carom/cast.h). */
enum carom_feature {
  CAROM_FEATURE_NONE,
  CAROM_FEATURE_EDGE,
  CAROM_FEATURE_VERTEX,
  CAROM_FEATURE_COLLINEAR
};
/* Where a point is (carom/locate.h). */
enum carom_location { CAROM_LOCATION_OUTSIDE, CAROM_LOCATION_BOUNDARY, CAROM_LOCATION_INSIDE };
/* Where a piece of the boundary of an area lies (carom/area.h). */
enum carom_area_piece_kind {
  CAROM_AREA_PIECE_KIND_EDGE,
  CAROM_AREA_PIECE_KIND_ARC,
  CAROM_AREA_PIECE_KIND_SIGHT
};
/* How a contact was found (carom/contact.h). */
enum carom_contact_kind { CAROM_CONTACT_KIND_CONVEX, CAROM_CONTACT_KIND_FEATURE };

/* These return the name of a column, such as "ax", and what is wrong with an item, by the numbers
 * in `error_column` and `error_fault`; null for other numbers. Static. */
CAROM_API const char* carom_item_column_name(uint32_t column);
CAROM_API const char* carom_item_fault_description(uint32_t fault);

/* Items that were not answered: members of every struct of answers. */
#define CAROM_ITEM_ERRORS                                            \
  carom_u32_column error_index; /* [1] items in error, ascending */  \
  carom_u8_column error_column; /* [1] see carom_item_column_name */ \
  carom_u8_column error_fault;  /* [1] see carom_item_fault_description */

/* To casts (carom/cast.h): one entry a hit. Exits are the ends of passages. */
typedef struct carom_cast_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;                       /* [1] one an item */
  carom_u64_column polygon_id;                   /* [1] */
  carom_u8_column is_body;                       /* [1] */
  carom_f64_column fraction;                     /* [1] of the segment, in [0, 1], or t of a ray */
  carom_u8_column starts_inside, ends_inside;    /* [1] */
  carom_f64_column point_x, point_y;             /* [length] */
  carom_f64_column normal_x, normal_y;           /* [1] */
  carom_u8_column feature;                       /* [1] a carom_feature */
  carom_u32_column ring, edge;                   /* [1, where feature] */
  carom_f64_column exit_fraction;                /* [1] as fraction */
  carom_u8_column has_exit_edge;                 /* [1] */
  carom_u32_column exit_ring, exit_edge;         /* [1, where has_exit_edge] */
  carom_f64_column exit_normal_x, exit_normal_y; /* [1] */
  carom_f64_column reflection_x, reflection_y;   /* [length] of b - a or the direction */
  carom_u32_column truncated; /* [1] items with more hits than max_hits, ascending */
  CAROM_ITEM_ERRORS
  carom_u32_column
      passed; /* [1] one an item: soft walls that it passes; empty without soft walls */
  carom_f64_column soft_length; /* [length] one an item: inside soft walls before the hit */
} carom_cast_answers;

/* To points (carom/locate.h): one entry a polygon that contains the point. */
typedef struct carom_locate_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;     /* [1] one an item */
  carom_u64_column polygon_id; /* [1] */
  carom_u8_column is_body;     /* [1] */
  carom_u8_column location;    /* [1] a carom_location */
  CAROM_ITEM_ERRORS
} carom_locate_answers;

/* To overlaps (carom/overlap.h): one entry a polygon that the shape touches. */
typedef struct carom_overlap_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;      /* [1] one an item */
  carom_u64_column polygon_id;  /* [1] */
  carom_u8_column is_body;      /* [1] */
  carom_u8_column touching;     /* [1] discs, capsules only: 1 if the distance equals the radius */
  carom_u32_column edge_counts; /* [1] entries of ring and edge of each polygon; only with edges */
  carom_u32_column ring, edge;  /* [1] */
  CAROM_ITEM_ERRORS
} carom_overlap_answers;

/* To distances (carom/distance.h): one entry a polygon. */
typedef struct carom_distance_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;           /* [1] one an item */
  carom_u64_column polygon_id;       /* [1] */
  carom_u8_column is_body;           /* [1] */
  carom_f64_column distance;         /* [length] empty under WITHIN, as all up to edge */
  carom_f64_column point_x, point_y; /* [length] nearest point of the polygon */
  carom_f64_column mover_point_x, mover_point_y; /* [length] nearest point of the mover */
  carom_u8_column has_edge;                      /* [1] */
  carom_u32_column ring, edge;                   /* [1, where has_edge] */
  CAROM_ITEM_ERRORS
} carom_distance_answers;

/* To contacts (carom/contact.h): one entry a polygon or, for body contacts, a body of a lower
 * index: the fixed shape. Moving the mover by depth times the normal, which points to the mover,
 * undoes a convex contact. Features are 2 i for vertex i and 2 i + 1 for edge i of a shape, counted
 * over all rings. The columns that begin with `second` have a meaning where point_counts is 2. The
 * split columns, displacements by mass, are empty without masses. */
typedef struct carom_contact_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;                         /* [1] one an item */
  carom_u64_column polygon_id;                     /* [1] */
  carom_u8_column is_body;                         /* [1] */
  carom_u8_column kind;                            /* [1] a carom_contact_kind */
  carom_f64_column normal_x, normal_y;             /* [1] */
  carom_f64_column depth;                          /* [length] */
  carom_u32_column point_counts;                   /* [1] 1 or 2 */
  carom_f64_column point_x, point_y, point_depth;  /* [length] */
  carom_u32_column polygon_feature, mover_feature; /* [1] */
  carom_f64_column second_point_x, second_point_y, second_point_depth; /* [length] */
  carom_u32_column second_polygon_feature, second_mover_feature;       /* [1] */
  carom_f64_column fixed_split_x, fixed_split_y;                       /* [length] */
  carom_f64_column mover_split_x, mover_split_y;                       /* [length] */
  CAROM_ITEM_ERRORS
} carom_contact_answers;

/* To depenetrations (carom/depenetrate.h): one entry an item. */
typedef struct carom_depenetrate_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_f64_column x, y;    /* [length] last position */
  carom_u8_column finished; /* [1] 1: the shape touches nothing there */
  carom_u32_column steps;   /* [1] number of pushes */
  CAROM_ITEM_ERRORS
} carom_depenetrate_answers;

/* To sweeps (carom/sweep.h): one entry a hit. `ties` is 1 for a hit as early as the one before
 * it. */
typedef struct carom_sweep_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;             /* [1] one an item */
  carom_u64_column polygon_id;         /* [1] */
  carom_u8_column is_body;             /* [1] */
  carom_f64_column fraction;           /* [1] of the path, in [0, 1] */
  carom_u8_column starts_inside, ties; /* [1] */
  carom_u8_column has_edge;            /* [1] */
  carom_u32_column ring, edge;         /* [1, where has_edge] */
  carom_f64_column point_x, point_y;   /* [length] */
  carom_f64_column normal_x, normal_y; /* [1] */
  carom_u32_column truncated;          /* [1] items with more hits than max_hits, ascending */
  carom_f64_column safe_x, safe_y;     /* [length] safe pose, one an item; blocking policies only */
  CAROM_ITEM_ERRORS
} carom_sweep_answers;

/* To rotating sweeps (carom/rotating_sweep.h): nothing touches before `low`, and at `high`
 * something touches or is closer than the tolerance. */
typedef struct carom_rotating_sweep_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;     /* [1] one an item: 0 or 1 */
  carom_u64_column polygon_id; /* [1] */
  carom_f64_column low, high;  /* [1] fractions of the path, in [0, 1] */
  CAROM_ITEM_ERRORS
} carom_rotating_sweep_answers;

/* To arcs (carom/arc.h): one entry a hit. */
typedef struct carom_arc_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;             /* [1] one an item */
  carom_u64_column polygon_id;         /* [1] */
  carom_u8_column is_body;             /* [1] */
  carom_f64_column time;               /* [time] in [0, duration] */
  carom_u8_column starts_inside;       /* [1] */
  carom_u8_column has_edge;            /* [1] */
  carom_u32_column ring, edge;         /* [1, where has_edge] */
  carom_f64_column point_x, point_y;   /* [length] */
  carom_f64_column normal_x, normal_y; /* [1] */
  carom_u32_column truncated;          /* [1] items with more hits than max_hits, ascending */
  CAROM_ITEM_ERRORS
} carom_arc_answers;

/* To lines of sight (carom/visibility.h). */
typedef struct carom_sight_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u8_column visible; /* [1] one an item; 0 for an item in error */
  CAROM_ITEM_ERRORS
} carom_sight_answers;

/* To fans (carom/visibility.h): one entry a beam. */
typedef struct carom_fan_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;     /* [1] one an item */
  carom_u8_column hits;        /* [1] 1: the beam hits something */
  carom_f64_column distances;  /* [length] from (x, y) to the hit; without a hit, the range */
  carom_u64_column polygon_id; /* [1, where hits] */
  carom_u8_column is_body;     /* [1] */
  CAROM_ITEM_ERRORS
} carom_fan_answers;

/* To moves (carom/tracker.h): one entry a polygon. Items that touch nothing, on a sweep nothing on
 * the path, have a bit in `clear` and no entry in `counts`; items in error have the count 0. The
 * column quiet_radius and the numbers of moves are advice, which depends on memories: while the
 * reference point moves by less than quiet_radius, the answer (of a sweep, at its end) in this
 * scene stays, at any rotation. */
typedef struct carom_move_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u64_column clear;       /* [1] bit i % 64 of word i / 64 */
  carom_u32_column counts;      /* [1] one an item that is not clear */
  carom_u64_column polygon_id;  /* [1] */
  carom_u32_column edge_counts; /* [1] entries of ring and edge of each polygon; only with edges */
  carom_u32_column ring, edge;  /* [1] */
  carom_u8_column touches;      /* [1] sweeps only, as all that begins with touch: one a count */
  carom_u64_column touch_id;    /* [1, where touches] */
  carom_f64_column touch_low, touch_high;          /* [1, where touches] fractions of the path */
  carom_u8_column touch_has_edge;                  /* [1] */
  carom_u32_column touch_ring, touch_edge;         /* [1, where touch_has_edge] */
  carom_f64_column touch_normal_x, touch_normal_y; /* [1] */
  carom_f64_column quiet_radius;                   /* [length] one an item; quiet_radii only */
  uint64_t quiet_moves, near_moves, refreshed_moves, cold_moves; /* how the moves were answered */
  CAROM_ITEM_ERRORS
} carom_move_answers;

/* To slides (carom/slide.h): legs[i] entries of the columns from leg_x to normal_y belong to item
 * i. A leg is the sweep from (leg_x, leg_y) by (leg_dx, leg_dy). */
typedef struct carom_slide_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_f64_column x, y;               /* [length] position at the end, one an item */
  carom_f64_column left_x, left_y;     /* [length] unused part of the last push, one an item */
  carom_u32_column legs;               /* [1] number of legs, one an item */
  carom_f64_column leg_x, leg_y;       /* [length] */
  carom_f64_column leg_dx, leg_dy;     /* [length] */
  carom_u8_column has_hit;             /* [1] */
  carom_u64_column polygon_id;         /* [1, where has_hit] */
  carom_u8_column is_body;             /* [1, where has_hit] */
  carom_f64_column fraction;           /* [1, where has_hit] of the leg */
  carom_u8_column starts_inside;       /* [1, where has_hit] */
  carom_u8_column has_edge;            /* [1, where has_hit] */
  carom_u32_column ring, edge;         /* [1, where has_edge] */
  carom_f64_column point_x, point_y;   /* [length, where has_hit] */
  carom_f64_column normal_x, normal_y; /* [1, where has_hit] */
  CAROM_ITEM_ERRORS
} carom_slide_answers;

/* To bounces (carom/bounce.h): one entry a leg, the segment from (ax, ay) to (bx, by). */
typedef struct carom_bounce_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;             /* [1] one an item */
  carom_f64_column ax, ay;             /* [length] */
  carom_f64_column bx, by;             /* [length] */
  carom_u8_column has_hit;             /* [1] */
  carom_u64_column polygon_id;         /* [1, where has_hit] */
  carom_f64_column fraction;           /* [1, where has_hit] of the leg */
  carom_u8_column starts_inside;       /* [1, where has_hit] */
  carom_u8_column feature;             /* [1, where has_hit] a carom_feature */
  carom_u32_column ring, edge;         /* [1, where feature] */
  carom_f64_column point_x, point_y;   /* [length, where has_hit] */
  carom_f64_column normal_x, normal_y; /* [1, where has_hit] */
  carom_u32_column stuck;              /* [1] items for which no next leg could start, ascending */
  CAROM_ITEM_ERRORS
} carom_bounce_answers;

/* To bounces of rays (carom/bounce.h): one entry a leg, the ray from (x, y) over [0, t_max]. */
typedef struct carom_ray_bounce_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;             /* [1] one an item */
  carom_f64_column x, y;               /* [length] */
  carom_f64_column dx, dy;             /* [length] */
  carom_f64_column t_max;              /* [1] */
  carom_u8_column has_hit;             /* [1] */
  carom_u64_column polygon_id;         /* [1, where has_hit] */
  carom_f64_column fraction;           /* [1, where has_hit] t of the ray */
  carom_u8_column starts_inside;       /* [1, where has_hit] */
  carom_u8_column feature;             /* [1, where has_hit] a carom_feature */
  carom_u32_column ring, edge;         /* [1, where feature] */
  carom_f64_column point_x, point_y;   /* [length, where has_hit] */
  carom_f64_column normal_x, normal_y; /* [1, where has_hit] */
  carom_u32_column stuck;              /* [1] items for which no next leg could start, ascending */
  CAROM_ITEM_ERRORS
} carom_ray_bounce_answers;

/* To areas (carom/area.h): one entry a piece of the boundary, from (start_x, start_y) to the start
 * of the next one, counter-clockwise; the last piece of an eye ends where its first one starts. */
typedef struct carom_area_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;           /* [1] one an item */
  carom_u8_column kind;              /* [1] a carom_area_piece_kind */
  carom_u64_column polygon_id;       /* [1] 0 but for edges */
  carom_u8_column is_body;           /* [1] */
  carom_u32_column ring, edge;       /* [1] 0 but for edges */
  carom_f64_column start_x, start_y; /* [length] */
  carom_f64_column areas;            /* [length^2] size of the whole area, one an item */
  carom_u8_column starts_inside;     /* [1] one an item; 1: something contains the eye */
  carom_u32_column truncated;        /* [1] items with more pieces than max_rows, ascending */
  CAROM_ITEM_ERRORS
} carom_area_answers;

/* To sees (carom/sees.h). `seen` has n = seen.length / counts.length words for each item in turn;
 * bit j % 64 of word j / 64 of an item is 1 if the item sees body j. */
typedef struct carom_see_answers {
  uint32_t struct_size;
  uint32_t reserved;
  carom_u32_column counts;       /* [1] bodies seen, one an item */
  carom_u64_column seen;         /* [1] bits, some words an item */
  carom_u8_column starts_inside; /* [1] one an item; 1: a polygon contains the eye */
  CAROM_ITEM_ERRORS
} carom_see_answers;

/* --- Asking ---------------------------------------------------------------------------------- */

/* The answers of one call; the next call with this handle replaces them and uses their memory
 * again. One call at a time may use them: `carom_answers_version` and `carom_answers_digest` do not
 * check that. */
typedef struct carom_answers carom_answers;

/* Limits of one call that answers; 0: no limit. */
typedef struct carom_answer_limits {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t max_rows; /* hits, polygons, edges, beams, legs and pieces; RESOURCE_EXHAUSTED beyond */
  uint64_t
      max_work_units; /* of some nanoseconds each (carom/work_meter.h); DEADLINE_EXCEEDED beyond */
} carom_answer_limits;

/* Makes answers to no question. `limits` may be null. */
CAROM_API uint32_t carom_answers_create(const carom_answer_limits* limits, carom_answers** out,
                                        carom_status* status);
CAROM_API void carom_answers_destroy(carom_answers* answers);

/* One batch of a group: a kind and its question. */
typedef struct carom_batch {
  uint32_t kind; /* a carom_kind */
  uint32_t reserved;
  const void* question; /* the struct of questions of the kind, in CAROM_KINDS */
} carom_batch;

/* Where a call finds what it asks about. */
typedef struct carom_world {
  uint32_t struct_size;
  uint32_t reserved;
  const carom_scene* scene;
  carom_bodies* bodies;     /* may be null: no bodies */
  carom_trackers* trackers; /* may be null: no trackers, so moves are errors of their items */
  carom_body_history* body_history; /* may be null; in place of bodies, which are null then */
  uint32_t body_rotation;           /* a carom_body_rotation, between two ticks */
  uint32_t reserved_2;
} carom_world;

/* Asks a group: batches of different kinds, at most one of each, against one world. The field paths
 * of errors in a question begin with the name of the kind in small letters, as in
 * `sweeps.movers.x`; others are such as `batches[1].kind` and `world.scene`. DEADLINE_EXCEEDED or
 * RESOURCE_EXHAUSTED at the limits of `answers`. Threads may share a scene; each needs answers of
 * its own. */
CAROM_API uint32_t carom_evaluate(const carom_world* world, const carom_batch* batches,
                                  size_t batch_count, carom_answers* answers, carom_status* status);

/* One function for each kind: `carom_evaluate` with one batch, for example
 * carom_cast_segments(&world, &segments, answers, &status). */
#define CAROM_ASK_FUNCTION(number, name, question, answer, function)           \
  CAROM_API uint32_t function(const carom_world* world, const question* asked, \
                              carom_answers* answers, carom_status* status);
CAROM_KINDS(CAROM_ASK_FUNCTION)
#undef CAROM_ASK_FUNCTION

/* Sets `out`, the struct of answers of `kind` with its `struct_size` set, to columns that are valid
 * until the next call that asks with `answers` or destroys them; `carom_answers` owns the memory.
 * Columns of a kind that was not asked are empty. O(1). */
CAROM_API uint32_t carom_answers_read(const carom_answers* answers, uint32_t kind, void* out,
                                      carom_status* status);
/* Returns the version of the scene that answered; 0 before the first question, after an error or
 * for a null pointer. */
CAROM_API uint64_t carom_answers_version(const carom_answers* answers);
/* Returns a number made from all entries with a meaning, and from nothing else: equal answers have
 * equal digests on every machine and in every language (FNV-1a, 64 bits). The version, quiet_radius
 * and the numbers of moves in carom_move_answers do not count. 0 for a null pointer. O(entries). */
CAROM_API uint64_t carom_answers_digest(const carom_answers* answers);

/* What a picture shows beside the scene: the bodies of the world, too, if there are batches. */
typedef struct carom_picture {
  uint32_t struct_size;
  uint32_t width;               /* of the picture in pixels, in [64, 16384]; 0: 1,024 */
  const carom_batch* batches;   /* questions; may be null */
  size_t batch_count;           /* number of batches */
  const carom_answers* answers; /* the answers to exactly these batches; may be null */
} carom_picture;
/* Writes an SVG document of the scene, the questions and what they hit. `picture` may be null: the
 * scene alone. INVALID_ARGUMENT if the answers do not fit the batches; after an error, `out` is as
 * before. */
CAROM_API uint32_t carom_write_svg(const carom_world* world, const carom_picture* picture,
                                   carom_buffer* out, carom_status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CAROM_CAROM_H_ */
