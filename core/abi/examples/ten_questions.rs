// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

//! Ten questions about a square with a hole and a triangle: rustc -L FOLDER ten_questions.rs
use std::ffi::{c_char, c_void, CStr};
use std::{fmt::Display, mem::size_of, mem::zeroed, ptr::from_mut, ptr::from_ref, ptr::null_mut};

type Handle = *mut c_void;
type Text = *const c_char;
type Scope = [u64; 7];
type F64 = Column<f64>;
type U64 = Column<u64>;
type U32 = Column<u32>;
type U8 = Column<u8>;
#[repr(C)] struct Column<T>(*const T, usize, usize); // data, length, stride
#[repr(u32)] #[derive(Clone, Copy)]
enum Kind { Segments = 1, Points = 2, Circles = 3, Rays = 5, Sweeps = 11, Sights = 14, Fans = 15 }
#[repr(C)] struct Batch(Kind, u32, *const c_void); // kind, 0, question
/// Structs of carom.h as far as they are used here: members at the end may be left out.
macro_rules! structs { ($($name:ident { $($($member:ident)+: $type:ty),* })*) => { $(
    #[allow(dead_code)] #[repr(C)] struct $name { struct_size: u32, $($($member: $type,)+)* }
)* } }
structs! {
    Status { code more: u32, field: [c_char; 132], message: [c_char; 368] }
    World { reserved: u32, scene bodies trackers: Handle }
    Polygons { reserved: u32, id: U64, ring_count ring_size: U32, x y: F64 }
    Capsules { reserved: u32, ax ay bx by radius: F64 }
    Segments { mode: u32, more: [u32; 6], mask: u64, scope: Scope, ax ay bx by: F64 }
    Rays { mode: u32, more: [u32; 6], mask: u64, scope: Scope, x y dx dy: F64 }
    Points { reserved: u32, mask: u64, scope: Scope, x y: F64 }
    Circles { detail: u32, mask: u64, scope: Scope, x y radius: F64 }
    Sights { reserved: u32, mask: u64, scope: Scope, ax ay bx by: F64 }
    Fans { policy: u32, mask: u64, scope: Scope, x y angle step range: F64, beams: U32 }
    Sweeps { mode policy max_hits: u32, mask: u64, scope: Scope,
             shapes: Handle, shape: U32, x y c s angle: F64, to_x to_y: F64 }
    CastAnswers { reserved: u32, counts: U32, polygon_id: U64, is_body: U8, fraction: F64,
                  starts_inside ends_inside: U8, point_x point_y normal_x normal_y: F64 }
    LocateAnswers { reserved: u32, counts: U32, polygon_id: U64, is_body location: U8,
                    error_index: U32, error_column error_fault: U8 }
    OverlapAnswers { reserved: u32, counts: U32, polygon_id: U64, is_body touching: U8 }
    SightAnswers { reserved: u32, visible: U8 }
    FanAnswers { reserved: u32, counts: U32, hits: U8, distances: F64 }
    SweepAnswers { reserved: u32, counts: U32, polygon_id: U64, is_body: U8, fraction: F64 }
}
#[link(name = "carom")]
extern "C" {
    fn carom_polygon_set_create(_: &Polygons, _: Handle, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_shapes_create(_: Handle, _: &Capsules, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_scene_create(_: Handle, _: u64, _: Handle, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_answers_create(_: Handle, _: &mut Handle, _: &mut Status) -> u32;
    fn carom_evaluate(_: &World, _: *const Batch, _: usize, _: Handle, _: &mut Status) -> u32;
    fn carom_answers_read(_: Handle, _: Kind, _: Handle, _: &mut Status) -> u32;
    fn carom_answers_digest(_: Handle) -> u64;
    fn carom_code_name(_: u32) -> Text;
    fn carom_item_column_name(_: u32) -> Text;
    fn carom_item_fault_description(_: u32) -> Text;
}

/// Makes a struct with columns; all else is 0.
macro_rules! new { ($name:ident $($member:ident: $values:expr),*) => {
    $name { struct_size: size_of::<$name>() as u32, $($member: list(&$values),)* ..zeroed() }
} }
fn list<T>(values: &'static [T]) -> Column<T> { Column(values.as_ptr(), values.len(), 1) }
fn batch<Q>(kind: Kind, question: &Q) -> Batch { Batch(kind, 0, from_ref(question).cast()) }
unsafe fn name(text: Text) -> String { CStr::from_ptr(text).to_string_lossy().into_owned() }
/// Returns the elements as text, as %.17g of C prints numbers of moderate size.
unsafe fn text<T: Copy + Display>(column: &Column<T>) -> String {
    (0..column.1).map(|i| {
        let number: f64 = (*column.0.add(i * column.2)).to_string().parse().unwrap();
        let exponent: i32 = format!("{number:e}").rsplit('e').next().unwrap().parse().unwrap();
        let digits = format!(" {number:.*}", (16 - exponent) as usize);
        digits.trim_end_matches('0').trim_end_matches('.').to_string()
    }).collect()
}

unsafe fn run() {
    let (mut set, mut shapes, mut answers) = (null_mut(), null_mut(), null_mut());
    let (mut world, mut status) = (new! { World }, new! { Status });
    let drawn = new! { Polygons ring_count: [2, 1], ring_size: [4, 4, 3],
                       x: [0., 4., 4., 0., 1., 3., 3., 1., 6., 9., 6.],
                       y: [0., 0., 4., 4., 1., 1., 3., 3., 0., 0., 3.] };
    let disc = new! { Capsules ax: [0.], ay: [0.], bx: [0.], by: [0.], radius: [0.5] };
    assert_eq!(carom_polygon_set_create(&drawn, null_mut(), &mut set, &mut status), 0);
    assert_eq!(carom_shapes_create(null_mut(), &disc, &mut shapes, &mut status), 0);
    assert_eq!(carom_scene_create(set, 1, null_mut(), &mut world.scene, &mut status), 0);
    assert_eq!(carom_answers_create(null_mut(), &mut answers, &mut status), 0);
    // Asks a group and reads the answers of one kind.
    macro_rules! ask { ($group:expr, $kind:expr, $answers:ident) => { {
        let (group, mut read) = ($group, new! { $answers });
        assert_eq!(carom_evaluate(&world, group.as_ptr(), group.len(), answers, &mut status), 0);
        let out = from_mut(&mut read).cast();
        assert_eq!(carom_answers_read(answers, $kind, out, &mut status), 0);
        read
    } } }
    // Asks one question and prints columns of its answers.
    macro_rules! show { ($label:literal $kind:ident $asked:expr, $type:ident $($name:ident)+) => {
        let read = ask!([batch(Kind::$kind, &$asked)], Kind::$kind, $type);
        println!("{}:{}", $label, [$(text(&read.$name)),+].join(","));
    } }
    let mut segment = new! { Segments ax: [9.], ay: [3.], bx: [6.], by: [1.] };
    show! { "1 segment" Segments segment, CastAnswers polygon_id fraction normal_x normal_y }
    let all = Segments { mode: 4, ..new! { Segments ax: [-1.], ay: [2.], bx: [10.], by: [2.] } };
    show! { "2 passages" Segments all, CastAnswers polygon_id fraction }
    let rays = new! { Rays x: [2.], y: [2.], dx: [3.], dy: [1.] };
    show! { "3 ray" Rays rays, CastAnswers fraction }
    let points = new! { Points x: [0.5, 2., 4., 5.], y: [0.5, 2., 2., f64::NAN] };
    show! { "4 points" Points points, LocateAnswers counts location }
    let circles = new! { Circles x: [5.], y: [2.], radius: [1.] };
    show! { "5 disc" Circles circles, OverlapAnswers touching }
    let sights = new! { Sights ax: [5., 5.], ay: [5., 2.], bx: [5., 2.], by: [0., 2.] };
    show! { "6 sight" Sights sights, SightAnswers visible }
    let fans = new! { Fans x: [5.], y: [2.], angle: [-1.], step: [0.5], range: [10.], beams: [5] };
    show! { "7 fan" Fans fans, FanAnswers distances }
    let sweeps = Sweeps { shapes, ..new! { Sweeps x: [7.], y: [6.], to_x: [7.], to_y: [0.] } };
    show! { "8 sweep" Sweeps sweeps, SweepAnswers fraction }
    segment.bx = list(&[]);
    let code = carom_evaluate(&world, &batch(Kind::Segments, &segment), 1, answers, &mut status);
    let (field, message) = (name(status.field.as_ptr()), name(status.message.as_ptr()));
    println!("9 error: {} {field}: {message}", name(carom_code_name(code)));
    let group = [
        batch(Kind::Segments, &all), batch(Kind::Rays, &rays), batch(Kind::Points, &points),
        batch(Kind::Circles, &circles), batch(Kind::Sights, &sights), batch(Kind::Fans, &fans),
        batch(Kind::Sweeps, &sweeps),
    ];
    let item = ask!(group, Kind::Points, LocateAnswers);
    let column = name(carom_item_column_name((*item.error_column.0).into()));
    let fault = name(carom_item_fault_description((*item.error_fault.0).into()));
    println!("10 item {}: {column} {fault}", *item.error_index.0);
    println!("digest {:016x}", carom_answers_digest(answers));
}

fn main() { unsafe { run() } }
