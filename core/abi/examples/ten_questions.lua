-- SPDX-FileCopyrightText: The Carom authors
-- SPDX-License-Identifier: Apache-2.0
-- Ten questions about a square with a hole and a triangle: luajit ten_questions.lua
local ffi = require("ffi")
-- The header as the preprocessor leaves it. A program that is shipped contains this text.
ffi.cdef(io.popen("echo '#include <carom/carom.h>' | cc -E -P -"):read("*a"))
local carom, kept = ffi.load("libcarom.so.1"), {}
local function keep(value) kept[#kept + 1] = value return value end -- structs point to it
local function list(array, ...) return {keep(ffi.new(array, {...})), select("#", ...)} end
local function f64(...) return list("double[" .. select("#", ...) .. "]", ...) end
local function u32(...) return list("uint32_t[" .. select("#", ...) .. "]", ...) end
local function new(type, members)
  members.struct_size = ffi.sizeof("carom_" .. type)
  return keep(ffi.new("carom_" .. type, members))
end
local status, text = new("status", {}), ffi.string
local function check(code) return code == 0 or error(text(status.message)) end
local set, shapes = ffi.new("carom_polygon_set *[1]"), ffi.new("carom_shapes *[1]")
local scene, answers = ffi.new("carom_scene *[1]"), ffi.new("carom_answers *[1]")
check(carom.carom_polygon_set_create(new("polygons", {
  ring_count = u32(2, 1), ring_size = u32(4, 4, 3), x = f64(0, 4, 4, 0, 1, 3, 3, 1, 6, 9, 6),
  y = f64(0, 0, 4, 4, 1, 1, 3, 3, 0, 0, 3)}), nil, set, status))
check(carom.carom_shapes_create(nil, new("capsules", {
  ax = f64(0), ay = f64(0), bx = f64(0), by = f64(0), radius = f64(0.5)}), shapes, status))
check(carom.carom_scene_create(set[0], 1, nil, scene, status))
check(carom.carom_answers_create(nil, answers, status))
local function evaluate(group)
  local world, batches = new("world", {scene = scene[0]}), ffi.new("carom_batch[?]", #group, group)
  return carom.carom_evaluate(world, batches, #group, answers[0], status)
end
local function read(kind, type)
  local view = new(type .. "_answers", {})
  return check(carom.carom_answers_read(answers[0], kind, view, status)) and view
end
-- Asks one question, prints members of its answers, and returns its batch.
local function ask(label, kind, question, type, ...)
  local batch = {carom["CAROM_KIND_" .. kind:upper()], 0, new(kind, question)}
  check(evaluate{batch})
  local view = read(batch[1], type)
  for i, name in ipairs{...} do
    io.write(i == 1 and label or ",")
    for k = 0, tonumber(view[name].length) - 1 do
      io.write((" %.17g"):format(tonumber(view[name].data[k * view[name].stride])))
    end
  end
  return print() or batch
end

local segment = {ax = f64(9), ay = f64(3), bx = f64(6), by = f64(1)}
ask("1 segment:", "segments", segment, "cast", "polygon_id", "fraction", "normal_x", "normal_y")
local group = {
  ask("2 passages:", "segments", {mode = carom.CAROM_CAST_MODE_ALL_PASSAGES,
    ax = f64(-1), ay = f64(2), bx = f64(10), by = f64(2)}, "cast", "polygon_id", "fraction"),
  ask("3 ray:", "rays", {x = f64(2), y = f64(2), dx = f64(3), dy = f64(1)}, "cast", "fraction"),
  ask("4 points:", "points", {x = f64(0.5, 2, 4, 5), y = f64(0.5, 2, 2, 0 / 0)},
    "locate", "counts", "location"),
  ask("5 disc:", "circles", {x = f64(5), y = f64(2), radius = f64(1)}, "overlap", "touching"),
  ask("6 sight:", "sights", {ax = f64(5, 5), ay = f64(5, 2), bx = f64(5, 2), by = f64(0, 2)},
    "sight", "visible"),
  ask("7 fan:", "fans", {x = f64(5), y = f64(2), angle = f64(-1), step = f64(0.5), range = f64(10),
    beams = u32(5)}, "fan", "distances"),
  ask("8 sweep:", "sweeps", {movers = {shapes = shapes[0], x = f64(7), y = f64(6)},
    to_x = f64(7), to_y = f64(0)}, "sweep", "fraction")}
segment.bx = nil
local code = evaluate{{carom.CAROM_KIND_SEGMENTS, 0, new("segments", segment)}}
local name, field = text(carom.carom_code_name(code)), text(status.field)
print("9 error: " .. name .. " " .. field .. ": " .. text(status.message))
check(evaluate(group))
local item = read(carom.CAROM_KIND_POINTS, "locate")
local column = carom.carom_item_column_name(item.error_column.data[0])
local fault = carom.carom_item_fault_description(item.error_fault.data[0])
print("10 item " .. item.error_index.data[0] .. ": " .. text(column) .. " " .. text(fault))
print("digest " .. bit.tohex(carom.carom_answers_digest(answers[0])))
