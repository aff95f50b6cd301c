# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Random maps and questions full of coincidences: vertices, edges and questions lie on one small lattice.

`map_of` makes the polygons of a map file, `line_of` a line of `carom eval`, and `question_of` items of one kind as
columns. All take a generator with a fixed seed, so a failure can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carom import Shapes, box, capsule, disc, questions
from carom._question import Question
from carom.local import Bodies, Trackers

Rng = np.random.Generator
Arguments = dict[str, Any]
SIZE = 16  # the lattice is [0, SIZE]^2, in halves
TRACKERS = 8
BODIES = 24


def one_of(rng: Rng, *values: Any) -> Any:
    """One of the values."""
    return values[int(rng.integers(0, len(values)))]


def lattice(rng: Rng, *shape: int) -> NDArray[np.float64]:
    """Coordinates: four in five on the lattice."""
    on = rng.integers(0, 2 * SIZE + 1, shape) / 2
    return np.where(rng.random(shape) < 0.8, on, rng.uniform(0, SIZE, shape))


def pushes(rng: Rng, *shape: int) -> NDArray[np.float64]:
    """Displacements, some of which are 0."""
    return lattice(rng, *shape) - lattice(rng, *shape)


def points_of(values: NDArray[np.float64]) -> list[list[float]]:
    """Rows as lists."""
    made: list[list[float]] = values.tolist()
    return made


# --- Maps -------------------------------------------------------------------------------------


def rectangle(rng: Rng) -> list[list[float]]:
    (x, y), (width, height) = lattice(rng, 2), rng.integers(1, 6, 2)
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def entry(rng: Rng, id: int) -> dict[str, Any]:
    """One polygon: simple or not, with or without holes, solid or hollow."""
    sort = int(rng.integers(0, 8))
    made: dict[str, Any] = {"id": id, "category": int(rng.choice([1, 1, 1, 2, 4]))}
    if sort <= 2:
        made["rings"] = [rectangle(rng)]
    elif sort == 3:
        outer = rectangle(rng)
        (x, y), (right, top) = outer[0], outer[2]
        middle = [(x + right) / 2, (y + top) / 2]
        made["rings"] = [outer, [[x, y], [middle[0], y], middle]]
    elif sort <= 5:
        made["rings"] = [points_of(lattice(rng, int(rng.integers(3, 8)), 2))]
        made["fill"] = str(rng.choice(["evenodd", "nonzero"]))
    elif sort == 6:
        made["rings"] = [{"points": points_of(lattice(rng, int(rng.integers(1, 5)), 2)), "open": True}]
        made["solidity"] = "boundary"
    else:
        made["rings"] = [points_of(lattice(rng, int(rng.integers(1, 5)), 2)), rectangle(rng)]
        made["solidity"] = str(rng.choice(["solid", "boundary"]))
    return made


def map_of(rng: Rng, count: int = 14) -> list[dict[str, Any]]:
    """The polygons of a map, in the format of map files."""
    ids = rng.choice(1000, count, replace=False)
    return [entry(rng, int(id)) for id in ids]


# --- Lines of carom eval ----------------------------------------------------------------------


def turn(rng: Rng) -> list[float]:
    """A cosine and a sine."""
    cosine, sine = [(1, 0), (0, 1), (-1, 0), (0.6, 0.8), (0.28, -0.96)][int(rng.integers(0, 5))]
    return [float(cosine), float(sine)]


def ring_about_zero(rng: Rng) -> list[list[float]]:
    """A ring that does not touch itself: a box, a triangle or an L."""
    w, h = (float(n) for n in rng.integers(1, 7, 2) / 2)
    sort = int(rng.integers(0, 3))
    if sort == 0:
        return [[-w, -h], [w, -h], [w, h], [-w, h]]
    if sort == 1:
        return [[-w, -h], [w, -h], [0, h]]
    return [[0, 0], [2 * w, 0], [2 * w, h / 2], [w / 2, h / 2], [w / 2, 2 * h], [0, 2 * h]]


def shape_of(rng: Rng) -> dict[str, Any]:
    """A circle or rings."""
    if rng.random() < 0.4:
        return {"circle": float(rng.integers(0, 5)) / 2}
    return {"rings": [ring_about_zero(rng)]}


def placed(rng: Rng, rings: list[list[list[float]]]) -> list[list[list[float]]]:
    """Rings at a place of the lattice."""
    x, y = lattice(rng, 2)
    return [[[px + x, py + y] for px, py in ring] for ring in rings]


def bodies_line(rng: Rng, count: int = 10) -> dict[str, Any]:
    """A line of eval that places bodies."""
    rows = [
        [int(rng.integers(0, 4)), *points_of(lattice(rng, 1, 2))[0], *turn(rng), int(rng.integers(0, 4)),
         int(rng.choice([1, 1, 2]))]
        for _ in range(count)
    ]  # fmt: skip
    return {"op": "bodies", "shapes": [shape_of(rng) for _ in range(4)], "at": rows}


def track_lines(rng: Rng) -> list[dict[str, Any]]:
    """Lines of eval that define trackers."""
    return [{"op": "track", "tracker": i, "rings": [ring_about_zero(rng)]} for i in range(TRACKERS)]


def scope_of(rng: Rng) -> dict[str, Any]:
    """The members that say what a line is asked against."""
    made: dict[str, Any] = {"against": str(rng.choice(["scene", "scene", "bodies", "both"]))}
    if rng.random() < 0.3:
        made["mask"] = (1, 2, 3, 6, 2**64 - 1)[int(rng.integers(0, 5))]
    if rng.random() < 0.3:
        made["ignore_owner"] = int(rng.integers(0, 4))
    return made


def soft_walls(rng: Rng) -> dict[str, Any]:
    """The members of soft walls, or none."""
    if rng.random() < 0.6:
        return {}
    return {"soft_mask": int(rng.integers(1, 8)), "soft_count": int(rng.integers(0, 4))}


def members_of(rng: Rng, op: str) -> dict[str, Any]:
    """What a line has beside its operation and its scope."""
    a, b = points_of(lattice(rng, 2, 2))
    d = points_of(pushes(rng, 1, 2))[0]
    circle = {"c": a, "r": float(rng.integers(0, 7)) / 2}
    rings = {"rings": placed(rng, [ring_about_zero(rng)])}
    pose = [*a, *(turn(rng) if rng.random() < 0.5 else [])]
    if op == "sweep":
        inside = str(rng.choice(["report", "ignore", "exit", "blocking", "blocking_leave"]))
        skin = {"skin": float(rng.choice([0, 0.125]))} if inside.startswith("blocking") else {}
        return {"shape": shape_of(rng), "at": pose, "d": d, "inside": inside, **skin}
    if op == "slide":
        several = points_of(pushes(rng, int(rng.integers(1, 4)), 2))
        return {"shape": shape_of(rng), "at": pose, "d": several, "skin": float(rng.choice([0, 0.125]))}
    if op == "contact":
        x, y, (w, h) = *a, rng.integers(1, 4, 2).tolist()
        ring = [[x, y], [x + w, y], [x + w, y + h], [x, y + h]]
        return {"rings": [ring]}
    if op == "ray_bounce":
        steps = {"t_max": float(rng.integers(1, 4))} if rng.random() < 0.5 else {}
        return {"p": a, "d": d if any(d) else [1.0, 0.0], "max_bounces": int(rng.integers(1, 6)), **steps}
    if op in ("area", "sees"):
        start = float(rng.integers(-4, 4))
        cone = {"cone": [start, start + float(rng.integers(1, 13)) / 2]} if rng.random() < 0.5 else {}
        inside = str(rng.choice(["report", "ignore"]))
        margin = {"margin": float(rng.integers(0, 4)) / 2} if op == "sees" else {}
        return {"p": a, "r": float(rng.integers(1, 20)) / 2, "inside": inside, **cone, **margin}
    if op == "move":
        cosine, sine = turn(rng)
        return {"tracker": int(rng.integers(0, TRACKERS)), "x": a[0], "y": a[1], "c": cosine, "s": sine}
    simple: dict[str, dict[str, Any]] = {
        "point": {"p": a},
        "segment": {"a": a, "b": b, "inside": str(rng.choice(["report", "ignore", "exit"])), **soft_walls(rng)},
        "sight": {"a": a, "b": b, **soft_walls(rng)},
        "bounce": {"a": a, "b": b, "max_bounces": int(rng.integers(1, 4))},
        "circle": circle,
        "circle_cast": {**circle, "d": d},
        "polygon": rings,
        "distance": rings,
        "polygon_cast": {**rings, "d": d},
    }
    return simple[op]


def line_of(rng: Rng, op: str) -> dict[str, Any]:
    """A line of eval that asks."""
    scope = {} if op in ("bounce", "ray_bounce", "move") else scope_of(rng)
    if op == "sees":  # which asks the bodies, past the polygons of the scene
        del scope["against"]
    return {"op": op, **members_of(rng, op), **scope}


# --- Questions as columns ---------------------------------------------------------------------


def shapes(rng: Rng) -> Shapes:
    """Two polygons, a disc and a capsule."""
    rings = Shapes([[ring_about_zero(rng)], [ring_about_zero(rng)]])
    return rings + box(1, 2) + disc(float(rng.integers(0, 4)) / 2) + capsule(-1, 0, 1, 0.5, 0.5)


def bodies_of(rng: Rng, count: int = BODIES) -> Bodies:
    """Bodies with categories and owners."""
    x, y = lattice(rng, 2, count)
    return Bodies(
        shapes(rng), x, y, shape=rng.integers(0, 5, count), angle=rng.uniform(-4, 4, count),
        category=rng.choice([1, 1, 2], count), owner=rng.integers(0, 4, count),
    )  # fmt: skip


def trackers_of(rng: Rng) -> Trackers:
    """Trackers 0 to TRACKERS - 1."""
    trackers = Trackers()
    trackers.define(shapes(rng), shape=rng.integers(0, 5, TRACKERS), within=float(rng.choice([0, 0.5])))
    return trackers


def named(names: str, columns: NDArray[np.float64]) -> Arguments:
    """Columns with their names."""
    return dict(zip(names.split(), columns, strict=True))


def scope_columns(rng: Rng, n: int) -> dict[str, Any]:
    """The arguments that say what a question is asked against."""
    made: dict[str, Any] = {"against": one_of(rng, None, "scene", "bodies", "both")}
    if rng.random() < 0.3:
        made["masks"] = rng.choice(np.array([0, 1, 2, 3, 2**63], np.uint64), n)
    if rng.random() < 0.3:
        made["ignore_owner"] = rng.integers(0, 4, n)
    if rng.random() < 0.3:
        made["mask"] = int(rng.choice([1, 3, 6]))
    return made


def poses(rng: Rng, n: int, *, capsules: bool = True) -> dict[str, Any]:
    """Shapes at poses."""
    x, y = lattice(rng, 2, n)
    made: dict[str, Any] = {"shapes": shapes(rng), "shape": rng.integers(0, 5, n), "x": x, "y": y}
    if not capsules:
        made |= {"shapes": Shapes([[ring_about_zero(rng)], [ring_about_zero(rng)]]), "shape": rng.integers(0, 2, n)}
    if rng.random() < 0.5:
        made["angle"] = rng.uniform(-4, 4, n)
    elif rng.random() < 0.5:
        made["c"], made["s"] = np.array([turn(rng) for _ in range(n)]).T
    return made


def cast_options(rng: Rng) -> dict[str, Any]:
    return {
        "mode": one_of(rng, None, "any", "closest", "all", "all_passages"),
        "inside_policy": one_of(rng, None, "report_start", "ignore", "exit"),
        "target": one_of(rng, None, "polygons", "bounds"),
        **({"reflect": True} if rng.random() < 0.2 else {"detail": one_of(rng, "fraction", "normal", "edge", "exit")}),
        "max_hits": one_of(rng, None, 1, 3, 64),
    }


def first_modes(rng: Rng) -> dict[str, Any]:
    """The options of sweeps and arcs."""
    return {
        "mode": one_of(rng, None, "any", "closest", "all"),
        "inside_policy": one_of(rng, None, "report_start", "ignore", "exit"),
        "max_hits": one_of(rng, None, 1, 64),
    }


def detail(rng: Rng) -> Arguments:
    return {"detail": one_of(rng, None, "ids", "edges")}


def radii(rng: Rng, n: int) -> NDArray[np.float64]:
    return rng.integers(0, 7, n) / 2


def a_cast(rng: Rng, n: int) -> Arguments:
    return {**named("ax ay bx by", lattice(rng, 4, n)), **cast_options(rng), **scope_columns(rng, n)}


def a_locate(rng: Rng, n: int) -> Arguments:
    return {**named("x y", lattice(rng, 2, n)), **scope_columns(rng, n)}


def a_circle(rng: Rng, n: int) -> Arguments:
    return {**named("x y", lattice(rng, 2, n)), "radius": radii(rng, n), **detail(rng), **scope_columns(rng, n)}


def a_capsule(rng: Rng, n: int) -> Arguments:
    ends = named("ax ay bx by", lattice(rng, 4, n))
    return {**ends, "radius": radii(rng, n), **detail(rng), **scope_columns(rng, n)}


def a_box(rng: Rng, n: int) -> Arguments:
    low = lattice(rng, 2, n)
    corners = {**named("min_x min_y", low), **named("max_x max_y", low + rng.integers(0, 5, (2, n)))}
    return {**corners, **detail(rng), **scope_columns(rng, n)}


def an_overlap(rng: Rng, n: int) -> Arguments:
    return {**poses(rng, n, capsules=False), **detail(rng), **scope_columns(rng, n)}


def a_ray(rng: Rng, n: int) -> Arguments:
    limits = {} if rng.random() < 0.5 else {"t_min": radii(rng, n), "t_max": radii(rng, n) + 4}
    lines = {**named("x y", lattice(rng, 2, n)), **named("dx dy", pushes(rng, 2, n))}
    return {**lines, **limits, **cast_options(rng), **scope_columns(rng, n)}


def a_distance(rng: Rng, n: int) -> Arguments:
    most = {} if rng.random() < 0.5 else {"max_distance": radii(rng, n)}
    return {**poses(rng, n), **most, "mode": one_of(rng, None, "nearest", "all", "within"), **scope_columns(rng, n)}


def a_contact(rng: Rng, n: int) -> Arguments:
    masses = {} if rng.random() < 0.5 else {"mass": radii(rng, n) + 1, "polygon_mass": np.full(n, np.inf)}
    return {**poses(rng, n), **masses, **scope_columns(rng, n)}


def a_depenetration(rng: Rng, n: int) -> Arguments:
    return {**poses(rng, n), "max_steps": one_of(rng, None, 1, 8), "mask": one_of(rng, None, 1, 3)}


def a_sweep(rng: Rng, n: int) -> Arguments:
    moved = {**poses(rng, n), **named("dx dy", pushes(rng, 2, n)), **scope_columns(rng, n)}
    if rng.random() < 0.4:
        return {**moved, "inside_policy": one_of(rng, "blocking", "blocking_leave"), "skin": np.full(n, 0.125)}
    if rng.random() < 0.3:
        ends = {"dx": None, "dy": None, **named("to_x to_y", lattice(rng, 2, n))}
        return {**moved, **ends, **first_modes(rng)}
    return {**moved, **first_modes(rng)}


def a_rotating_sweep(rng: Rng, n: int) -> Arguments:
    turned = poses(rng, n)
    ends = {"to_angle": rng.uniform(-4, 4, n)} if "angle" in turned else {}
    policy = one_of(rng, None, "report_start", "ignore")
    places = named("to_x to_y", lattice(rng, 2, n))
    return {**turned, **places, **ends, "tolerance": np.full(n, 0.01), "start_policy": policy}


def an_arc(rng: Rng, n: int) -> Arguments:
    thrown = {**named("x y", lattice(rng, 2, n)), **named("vx vy", pushes(rng, 2, n))}
    thrown |= {**named("ax ay", rng.integers(-2, 3, (2, n)).astype(float)), "duration": radii(rng, n)}
    return {**thrown, **first_modes(rng), **scope_columns(rng, n)}


def a_sight(rng: Rng, n: int) -> Arguments:
    return {**named("ax ay bx by", lattice(rng, 4, n)), **scope_columns(rng, n)}


def a_fan(rng: Rng, n: int) -> Arguments:
    beams = rng.integers(1, 9, n) if rng.random() < 0.5 else np.full(n, 7)
    made = {**named("x y", lattice(rng, 2, n)), "angle": rng.uniform(-4, 4, n), "beams": beams}
    made |= {"fov": rng.uniform(0, 6, n), "range": radii(rng, n) * 4}
    return {**made, "inside_policy": one_of(rng, None, "ignore", "exit"), **scope_columns(rng, n)}


def an_area(rng: Rng, n: int) -> Arguments:
    made = {**named("x y", lattice(rng, 2, n)), "range": radii(rng, n) * 4}
    if rng.random() < 0.5:
        first = rng.uniform(-4, 4, n)
        made |= {"from_": first, "to": first + rng.uniform(-0.25, 6, n)}
    return {**made, "inside_policy": one_of(rng, None, "ignore"), "max_rows": one_of(rng, None, 4),
            **scope_columns(rng, n)}  # fmt: skip


def a_see(rng: Rng, n: int) -> Arguments:
    made = {**an_area(rng, n), "against": one_of(rng, None, "scene"), "margin": one_of(rng, None, 0.0, 0.5, 3)}
    del made["max_rows"]
    return made


def a_move(rng: Rng, n: int) -> Arguments:
    start = {} if rng.random() < 0.5 else named("from_x from_y", lattice(rng, 2, n))
    made = {"tracker": rng.integers(0, TRACKERS, n), "angle": rng.uniform(-4, 4, n)}
    return {**named("x y", lattice(rng, 2, n)), **made, **start, **detail(rng)}


def a_slide(rng: Rng, n: int) -> Arguments:
    count = rng.integers(1, 4, n)
    made = {**poses(rng, n), **named("dx dy", pushes(rng, 2, int(count.sum()))), "pushes": count}
    made["inside_policy"] = one_of(rng, None, "blocking", "blocking_leave")
    made |= {"skin": one_of(rng, None, 0.125), "max_contacts": one_of(rng, None, 1, 8)}
    return {**made, **scope_columns(rng, n)}


def a_bounce(rng: Rng, n: int) -> Arguments:
    options = {"max_bounces": one_of(rng, None, 1, 16), "mask": one_of(rng, None, 3)}
    return {**named("ax ay bx by", lattice(rng, 4, n)), **options}


def a_body_contact(rng: Rng, n: int) -> Arguments:
    mass = {} if rng.random() < 0.5 else {"mass": rng.integers(1, 5, BODIES).astype(float)}
    return {"body": rng.integers(0, BODIES, n), **mass, "mask": one_of(rng, None, 1)}


def a_ray_bounce(rng: Rng, n: int) -> Arguments:
    lines = {**named("x y", lattice(rng, 2, n)), **named("dx dy", pushes(rng, 2, n))}
    t_max = {} if rng.random() < 0.5 else {"t_max": radii(rng, n) + 1}
    return {**lines, **t_max, "max_bounces": rng.integers(1, 17, n)}


KINDS: dict[str, Callable[[Rng, int], Arguments]] = {
    "cast": a_cast, "locate": a_locate, "overlap_circles": a_circle, "overlap": an_overlap, "rays": a_ray,
    "overlap_capsules": a_capsule, "overlap_boxes": a_box, "nearest": a_distance, "contacts": a_contact,
    "depenetrate": a_depenetration, "sweep": a_sweep, "sweep_rotating": a_rotating_sweep, "arcs": an_arc,
    "sights": a_sight, "fans": a_fan, "move": a_move, "slide": a_slide, "bounce": a_bounce,
    "body_contacts": a_body_contact, "bounce_rays": a_ray_bounce, "areas": an_area,
    "sees": a_see,
}  # fmt: skip


def arguments_of(rng: Rng, method: str, items: int) -> Arguments:
    """Arguments of a method of a scene, by name; some items are errors, such as rays without a direction."""
    return KINDS[method](rng, items)


def question_of(rng: Rng, method: str, items: int) -> Question[Any]:
    """The same as a question."""
    made: Question[Any] = getattr(questions, method)(**arguments_of(rng, method, items))
    return made
