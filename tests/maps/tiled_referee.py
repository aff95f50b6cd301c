# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the importer of Tiled's maps with Tiled: tiled_referee.py CAROM FOLDER.

FOLDER has the maps of the shared folder in `raw`; maps that are written here go beside them.

1. Forms: a map, its export to JSON, and its export with tilesets and templates inside have the same
   polygons, digit by digit; so have the encodings of tile layers.
2. Pictures: the image of a tile is its collision shape, painted. tmxrasterizer draws it in cells and
   tile objects of every orientation, flip and rotation: each pixel that is not on an edge of a
   polygon of the importer is painted if and only if it is inside.
"""

import base64
import gzip
import json
import math
import pathlib
import struct
import subprocess
import sys
import zlib

carom = sys.argv[1]
folder = pathlib.Path(sys.argv[2])

# A shape without symmetry, in the pixels of a tile's image.
WIDTH, HEIGHT = 24, 20
SQUARE = 16
SHAPE = [(3, 2), (19, 2), (19, 6), (8, 6), (8, 9), (15, 9), (15, 13), (8, 13), (8, 18), (3, 18)]


def polygons(path, *layers):
    """The scene that `carom convert` prints for a map, without the mapping, and what it skipped."""
    flags = [f"--layer={layer}" for layer in layers]
    run = subprocess.run(
        [carom, "convert", path, "-", "--no-flip-y", *flags], check=False, capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(f"{path}: {run.stderr}")
    return "{" + run.stdout[run.stdout.index('"polygons":') :], run.stderr.replace(str(path), "MAP")


def export(path, target, *flags):
    subprocess.run(["tiled", *flags, "--export-map", "json", path, target], check=True, capture_output=True)


# --- Forms ---------------------------------------------------------------------------------


def check_forms(path):
    """A map and its exports have the same polygons, with all layers and with the default ones."""
    plain, inside = path.with_suffix(".export.json"), path.with_suffix(".inside.json")
    export(path, plain)
    export(path, inside, "--embed-tilesets", "--detach-templates")
    count = 0
    for layers in ((), ("*",)):
        expected = polygons(path, *layers)
        for form in (plain, inside):
            if polygons(form, *layers) != expected:
                sys.exit(f"{form}: other polygons than {path} with layers {layers}")
        count += expected[0].count('"id"')
    return count


def cells(numbers, width, encoding, compression):
    """The element `data` of a layer."""
    if encoding == "xml":
        return "<data>" + "".join(f'<tile gid="{n}"/>' for n in numbers) + "</data>"
    if encoding == "csv":
        rows = [numbers[i : i + width] for i in range(0, len(numbers), width)]
        text = ",\n".join(",".join(map(str, row)) for row in rows)
        return f'<data encoding="csv">\n{text}\n</data>'
    packed = struct.pack(f"<{len(numbers)}I", *numbers)
    packed = {"": bytes, "zlib": zlib.compress, "gzip": gzip.compress}[compression](packed)
    attribute = f' compression="{compression}"' if compression else ""
    return f'<data encoding="base64"{attribute}>\n {base64.b64encode(packed).decode()}\n</data>'


def tileset(name="shape.png", offset=(3, -2), alignment="unspecified", grid="", points=None):
    text = " ".join(f"{x},{y}" for x, y in points or SHAPE)
    return f"""<tileset firstgid="1" name="shape" tilewidth="{WIDTH}" tileheight="{HEIGHT}"
    tilecount="1" columns="0" objectalignment="{alignment}">
  <tileoffset x="{offset[0]}" y="{offset[1]}"/>{grid}
  <tile id="0"><image width="{WIDTH}" height="{HEIGHT}" source="{name}"/>
   <objectgroup draworder="index"><object id="1" x="0" y="0"><polygon points="{text}"/></object></objectgroup>
  </tile>
 </tileset>"""


def write_map(name, attributes, body, tiles=None):
    path = folder / name
    path.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<map version="1.8" {attributes}>\n'
        f"{tiles or tileset()}\n{body}\n</map>\n"
    )
    return path


ORIENTATIONS = {
    "orthogonal": 'orientation="orthogonal" tilewidth="32" tileheight="24"',
    "isometric": 'orientation="isometric" tilewidth="48" tileheight="24"',
    **{
        f"staggered-{axis}-{index}": f'orientation="staggered" tilewidth="48" tileheight="24" '
        f'staggeraxis="{axis}" staggerindex="{index}"'
        for axis in "xy"
        for index in ("odd", "even")
    },
    **{
        f"hexagonal-{axis}-{index}": f'orientation="hexagonal" tilewidth="32" tileheight="28" '
        f'hexsidelength="{12 if axis == "y" else 14}" staggeraxis="{axis}" staggerindex="{index}"'
        for axis in "xy"
        for index in ("odd", "even")
    },
}

OBJECTS = """<objectgroup id="9" name="objects" offsetx="1.5">
  <object id="1" x="10" y="20" width="30.5" height="14" rotation="33"/>
  <object id="2" x="60" y="20" width="30" height="14"><ellipse/></object>
  <object id="3" x="90" y="80" rotation="-90"><polygon points="0,0 9,2.25 3,7"/></object>
  <object id="4" x="40" y="60"><polyline points="0,0 9,2.25 3,7"/></object>
  <object id="5" x="40" y="60"><point/></object>
  <object id="6" gid="1" x="70" y="70" width="32" height="18" rotation="90"/>
 </objectgroup>"""


ENCODINGS = [("csv", ""), ("xml", ""), ("base64", ""), ("base64", "zlib"), ("base64", "gzip")]


def check_encodings():
    """The encodings of tile layers, in all orientations, and their exports have the same polygons."""
    count = 0
    numbers = [(7 * i) % 5 // 4 * (1 | (i % 8) << 29) for i in range(64)]
    for name, attributes in ORIENTATIONS.items():
        expected = None
        for encoding, compression in ENCODINGS:
            data = cells(numbers, 8, encoding, compression)
            layer = f'<layer id="1" name="tiles" width="8" height="8">{data}</layer>'
            path = write_map(
                f"{name}-{encoding}-{compression}.tmx", f'{attributes} width="8" height="8"', layer + OBJECTS
            )
            found = polygons(path)
            if expected not in (None, found):
                sys.exit(f"{path}: other polygons than in CSV")
            expected = found
        count += check_forms(path)
    return count


# --- Pictures ------------------------------------------------------------------------------


def edges(ring):
    return zip(ring, ring[1:] + ring[:1], strict=True)


def inside(point, ring):
    x, y = point
    odd = False
    for (ax, ay), (bx, by) in edges(ring):
        if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            odd = not odd
    return odd


def distance(point, ring):
    x, y = point
    best = math.inf
    for (ax, ay), (bx, by) in edges(ring):
        dx, dy = bx - ax, by - ay
        t = max(0, min(1, ((x - ax) * dx + (y - ay) * dy) / ((dx * dx + dy * dy) or 1)))
        best = min(best, math.hypot(x - ax - t * dx, y - ay - t * dy))
    return best


def write_png(path, width, height, painted):
    """A picture of white pixels where `painted(x, y)`, else transparent."""
    rows = b"".join(
        b"\0" + b"".join(b"\xff" * 4 if painted(x, y) else b"\0" * 4 for x in range(width)) for y in range(height)
    )

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


def read_png(path):
    """The opacity of each pixel, by rows, of a picture with 8 bits for each of 4 channels."""
    data, i, packed = path.read_bytes(), 8, b""
    while i < len(data):
        (size,), kind = struct.unpack(">I", data[i : i + 4]), data[i + 4 : i + 8]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">2I2B", data[i + 8 : i + 18])
            assert (depth, color) == (8, 6), "a picture of another kind"
        if kind == b"IDAT":
            packed += data[i + 8 : i + 8 + size]
        i += 12 + size
    # The filters of a channel take bytes of the same channel alone.
    raw, rows, above = zlib.decompress(packed), [], bytes(width)
    for y in range(height):
        start = y * (4 * width + 1)
        kind, row = raw[start], bytearray(raw[start + 4 : start + 1 + 4 * width : 4])
        left = corner = 0
        for k in range(width if kind else 0):
            up = above[k]
            if kind == 4:
                add = min((left, up, corner), key=lambda p: abs(left + up - corner - p))
            else:
                add = (left, up, (left + up) // 2)[kind - 1]
            row[k] = left = (row[k] + add) & 255
            corner = up
        rows.append(row)
        above = row
    return rows


def rings_by_square(rings):
    """The rings near each square of a picture."""
    squares = {}
    for ring in rings:
        low, high = ([int(f(p[k] for p in ring) + d) // SQUARE for k in (0, 1)] for f, d in ((min, -4), (max, 4)))
        for column in range(low[0], high[0] + 1):
            for row in range(low[1], high[1] + 1):
                squares.setdefault((column, row), []).append(ring)
    return squares


def check_picture(path, margin, least=128):
    """A pixel whose center is at least `margin` away from every edge has the opacity `least` if and only
    if it is inside a polygon."""
    scene = json.loads(polygons(path)[0])["polygons"]
    rings = [ring for polygon in scene for ring in polygon["rings"]]
    picture = path.with_suffix(".png")
    subprocess.run(["tmxrasterizer", "--no-smoothing", path, picture], check=True, capture_output=True)
    rows = read_png(picture)
    squares = rings_by_square(rings)
    compared = painted = 0
    for y, row in enumerate(rows):
        for start in range(0, len(row), SQUARE):
            near = squares.get((start // SQUARE, y // SQUARE))
            if not near:
                compared += SQUARE
                if max(row[start : start + SQUARE]) >= least:
                    sys.exit(f"{path}: row {y} is painted behind {start}, where no polygon is")
                continue
            for x, opacity in enumerate(row[start : start + SQUARE], start):
                point = (x + 0.5, y + 0.5)
                if any(distance(point, ring) < margin for ring in near):
                    continue
                expected = any(inside(point, ring) for ring in near)
                compared += 1
                painted += expected
                if expected != (opacity >= least):
                    sys.exit(f"{path}: pixel {x}, {y} is {'not ' * expected}painted")
    area = sum(abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in edges(ring))) / 2 for ring in rings)
    if painted < 0.15 * area:
        sys.exit(f"{path}: {painted} pixels are compared of an area of {area}")
    return compared


def check_cells():
    """Cells with all flags, two cells apart, in a group and a layer with offsets."""
    count = 0
    for name, attributes in ORIENTATIONS.items():
        numbers = [0] * 144
        for flags in range(16):
            numbers[12 * (2 + 2 * (flags // 4)) + 2 + 2 * (flags % 4)] = 1 | flags << 28
        data = cells(numbers, 12, "csv", "")
        layer = f'<layer id="1" name="tiles" width="12" height="12" offsetx="2" offsety="1">{data}</layer>'
        path = write_map(
            f"cells-{name}.tmx",
            f'{attributes} width="12" height="12"',
            f'<group id="2" name="group" offsetx="1" offsety="4">{layer}</group>',
        )
        count += check_picture(path, 0.9 if "hexagonal" in name else 0.25)
    return count


def tile_objects(place):
    """Tile objects with flips, sizes and rotations; `place` is the position of number k."""
    text = ""
    for k in range(16):
        x, y = place(k)
        size = [(24, 20), (48, 20), (36, 50), (18, 20)][k % 4]
        rotation = [0, 90, 180, 270, 30, -45, 10, 100][k // 2]
        number = 1 | (k % 4) << 30
        text += (
            f'<object id="{k + 1}" gid="{number}" x="{x}" y="{y}" width="{size[0]}" height="{size[1]}" '
            f'rotation="{rotation}"/>\n'
        )
    return f'<objectgroup id="3" name="objects" offsetx="3" offsety="2">\n{text}</objectgroup>'


def check_objects():
    count = 0
    for alignment in ("unspecified", "topleft", "center", "bottomright", "bottom"):
        tiles = tileset(offset=(6, -4), alignment=alignment)
        path = write_map(
            f"objects-{alignment}.tmx",
            'orientation="orthogonal" tilewidth="32" tileheight="32" width="12" height="12"',
            tile_objects(lambda k: (60 + 80 * (k % 4), 60 + 80 * (k // 4))),
            tiles,
        )
        count += check_picture(path, 1.1)
        if alignment not in ("unspecified", "topleft"):
            continue
        path = write_map(
            f"objects-isometric-{alignment}.tmx",
            'orientation="isometric" tilewidth="64" tileheight="32" width="20" height="20"',
            tile_objects(lambda k: (120 + 100 * (k % 4), 120 + 100 * (k // 4))),
            tiles,
        )
        count += check_picture(path, 1.1)
    return count


SHAPES = """<objectgroup id="9" name="objects" offsetx="2">
  <object id="1" x="110" y="20" width="80.5" height="54" rotation="33"/>
  <object id="2" x="100" y="100" width="70" height="64"/>
  <object id="3" x="190" y="160" rotation="-70"><polygon points="0,0 79,22.25 33,77 30,36"/></object>
  %s
 </objectgroup>"""


def check_shapes():
    """Objects, which Tiled fills with an opacity of 50 and draws with lines and shadows."""
    count = 0
    for name in ("orthogonal", "isometric", "hexagonal-x-odd"):
        # Tiled draws the rectangle around an ellipse, too, in isometric maps.
        ellipse = '<object id="2" x="60" y="160" width="90" height="54" rotation="20"><ellipse/></object>'
        path = write_map(
            f"shapes-{name}.tmx",
            f'{ORIENTATIONS[name]} width="12" height="12"',
            SHAPES % (ellipse if name != "isometric" else ""),
        )
        count += check_picture(path, 9, 20)
    return count


def main():
    write_png(folder / "shape.png", WIDTH, HEIGHT, lambda x, y: inside((x + 0.5, y + 0.5), SHAPE))
    forms = sum(check_forms(path) for path in sorted((folder / "raw").rglob("*.tmx")))
    forms += check_encodings()
    pixels = check_cells() + check_objects() + check_shapes()
    print(f"{forms} polygons in three forms each, {pixels} pixels: no difference")


main()
