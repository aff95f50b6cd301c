// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//! Ten questions about a square with a hole and a triangle: rustc -L FOLDER ten_questions.rs
use std::{ffi::c_char, ffi::c_void, ffi::CStr, mem::size_of, ptr::null};
type Handle = *const c_void;
type Text = *const c_char;
// Structs of carom.h are numbers and then columns. They may end earlier than there, or later with
// zeros, so that few types serve for all of them here.
#[derive(Clone, Copy)] #[repr(C)] struct Column { data: Handle, length: usize, stride: usize }
#[repr(C)] struct Columns { struct_size: u32, reserved: u32, columns: [Column; 11] }
#[repr(C)] struct Question<const N: usize, const S: usize, const C: usize> {
    struct_size: u32, options: [u32; N], mask: u64, scope: [u64; 7],
    shapes: [Handle; S], columns: [Column; C],
}
#[derive(Clone, Copy)] #[repr(C)] struct Batch { kind: u32, reserved: u32, question: Handle }
#[repr(C)] struct World { struct_size: u32, reserved: u32, scene: Handle }
#[repr(C)] struct Status { struct_size: u32, more: [u32; 2], field: [u8; 132], message: [u8; 368] }
#[link(name = "carom")]
extern "C" {
    fn carom_polygon_set_create(_: &Columns, _: Handle, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_shapes_create(_: Handle, _: &Columns, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_scene_create(_: Handle, _: u64, _: Handle, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_answers_create(_: Handle, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_evaluate(_: &World, _: *const Batch, _: usize, _: Handle, _: &mut Status) -> u32;
    fn carom_answers_read(_: Handle, _: u32, _: &mut Columns, _: &mut Status) -> u32;
    fn carom_item_column_name(_: u32) -> Text; fn carom_item_fault_description(_: u32) -> Text;
    fn carom_code_name(_: u32) -> Text; fn carom_answers_digest(_: Handle) -> u64;
}
fn list<T>(values: &'static [T]) -> Column {
    Column { data: values.as_ptr().cast(), length: values.len(), stride: 1 }
}
fn columns<const N: usize>(given: [Column; N]) -> Columns {
    let mut columns = [list::<u64>(&[]); 11];
    columns[..N].copy_from_slice(&given);
    Columns { struct_size: size_of::<Columns>() as u32, reserved: 0, columns }
}
fn ask<const N: usize, const S: usize, const C: usize>(
    kind: u32, options: [u32; N], shapes: [Handle; S], columns: [Column; C]) -> Batch {
    let struct_size = size_of::<Question<N, S, C>>() as u32;
    let question = Question { struct_size, options, mask: 0, scope: [0; 7], shapes, columns };
    Batch { kind, reserved: 0, question: Box::into_raw(Box::new(question)).cast() }
}
/// `%.17g` of C, for numbers of moderate size.
fn digits(value: f64) -> String {
    let exponent: i32 = format!("{value:e}").rsplit('e').next().unwrap().parse().unwrap();
    let digits = format!("{value:.*}", (16 - exponent) as usize);
    digits.trim_end_matches('0').trim_end_matches('.').to_string()
}
/// Element i as a text: of type d, double; Q, I and B, uint64_t, uint32_t, uint8_t; or by its name.
unsafe fn element(code: char, column: &Column, i: usize) -> String {
    unsafe fn at<T: Copy>(c: &Column, i: usize) -> T { *c.data.cast::<T>().add(i * c.stride) }
    let text = |name| CStr::from_ptr(name).to_string_lossy().into_owned();
    match code {
        'd' => digits(at(column, i)),
        'Q' => at::<u64>(column, i).to_string(),
        'I' => at::<u32>(column, i).to_string(),
        'B' => at::<u8>(column, i).to_string(),
        'c' => text(carom_item_column_name(at::<u8>(column, i).into())),
        _ => text(carom_item_fault_description(at::<u8>(column, i).into())),
    }
}
fn main() {
    let f = list::<f64>;
    let (empty, n) = (f(&[]), null());
    let mut status = Status { struct_size: 512, more: [0; 2], field: [0; 132], message: [0; 368] };
    let (mut set, mut shapes, mut scene, mut answers) = (n, n, n, n);
    let drawn = columns([empty, list(&[2, 1]), list(&[4, 4, 3]),
        f(&[0., 4., 4., 0., 1., 3., 3., 1., 6., 9., 6.]), f(&[0., 0., 4., 4., 1., 1., 3., 3., 0., 0., 3.])]);
    let disc = columns([f(&[0.]), f(&[0.]), f(&[0.]), f(&[0.]), f(&[0.5])]);
    unsafe {
        assert_eq!(carom_polygon_set_create(&drawn, n, &mut set, &mut status), 0);
        assert_eq!(carom_shapes_create(n, &disc, &mut shapes, &mut status), 0);
        assert_eq!(carom_scene_create(set, 1, n, &mut scene, &mut status), 0);
        assert_eq!(carom_answers_create(n, &mut answers, &mut status), 0);
        let world = World { struct_size: 16, reserved: 0, scene };
    }
}
