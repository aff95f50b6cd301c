// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Ten questions about a square with a hole and a triangle: mcs ten_questions.cs
using System;
using System.Globalization;
using System.Linq;
using System.Runtime.InteropServices;

// Structs of carom.h as far as they are used here: members at the end may be left out.
struct Column { public IntPtr Data; public UIntPtr Length, Stride; }
enum Kind { Segments = 1, Points = 2, Circles = 3, Rays = 5, Sweeps = 11, Sights = 14, Fans = 15 }
struct Batch { public Kind Kind; public uint Reserved; public IntPtr Question; }
struct World { public uint Size, Reserved; public IntPtr Scene; }
struct Polygons { public uint Size, Reserved; public Column Id, RingCount, RingSize, X, Y; }
struct Capsules { public uint Size, Reserved; public Column Ax, Ay, Bx, By, Radius; }
struct Scope { public uint Against, Reserved; public Column Masks, IgnoreOwner; }
struct Placed { public IntPtr Shapes; public Column Shape, X, Y, C, S, Angle; }
struct Head { public uint Size, Option; public ulong Mask; public Scope Scope; }
struct CastHead {
  public uint Size, Mode, InsidePolicy, Target, Detail, Reflect, MaxHits, Reserved;
  public ulong Mask;
  public Scope Scope;
}
struct Segments { public CastHead Head; public Column Ax, Ay, Bx, By; }
struct Rays { public CastHead Head; public Column X, Y, Dx, Dy; }
struct Points { public Head Head; public Column X, Y; }
struct Circles { public Head Head; public Column X, Y, Radius; }
struct Sights { public Head Head; public Column Ax, Ay, Bx, By; }
struct Fans { public Head Head; public Column X, Y, Angle, Step, Range, Beams; }
struct Sweeps {
  public uint Size, Mode, InsidePolicy, MaxHits;
  public ulong Mask;
  public Scope Scope;
  public Placed Movers;
  public Column ToX, ToY;
}
struct Found { public uint Size, Reserved; public Column Counts, PolygonId, IsBody; }
struct CastAnswers {
  public Found Found;
  public Column Fraction, StartsInside, EndsInside, PointX, PointY, NormalX, NormalY;
}
struct LocateAnswers {
  public Found Found;
  public Column Location, ErrorIndex, ErrorColumn, ErrorFault;
}
struct OverlapAnswers { public Found Found; public Column Touching; }
struct SweepAnswers { public Found Found; public Column Fraction; }
struct SightAnswers { public uint Size, Reserved; public Column Visible; }
struct FanAnswers { public uint Size, Reserved; public Column Counts, Hits, Distances; }
struct Status {
  public uint Size, Code, ViolationCount;
  [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 132)] public string Field;
  [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 368)] public string Message;
}

static class TenQuestions {
  const string Carom = "libcarom.so.1";
  [DllImport(Carom)] static extern uint carom_polygon_set_create(
      IntPtr polygons, IntPtr limits, out IntPtr set, ref Status status);
  [DllImport(Carom)] static extern uint carom_shapes_create(
      IntPtr polygons, IntPtr capsules, out IntPtr shapes, ref Status status);
  [DllImport(Carom)] static extern uint carom_scene_create(
      IntPtr polygons, ulong version, IntPtr limits, out IntPtr scene, ref Status status);
  [DllImport(Carom)] static extern uint carom_answers_create(
      IntPtr limits, out IntPtr answers, ref Status status);
  [DllImport(Carom)] static extern uint carom_evaluate(
      IntPtr world, Batch[] batches, UIntPtr count, IntPtr answers, ref Status status);
  [DllImport(Carom)] static extern uint carom_answers_read(
      IntPtr answers, Kind kind, IntPtr read, ref Status status);
  [DllImport(Carom)] static extern ulong carom_answers_digest(IntPtr answers);
  [DllImport(Carom)] static extern IntPtr carom_code_name(uint code);
  [DllImport(Carom)] static extern IntPtr carom_item_column_name(uint column);
  [DllImport(Carom)] static extern IntPtr carom_item_fault_description(uint fault);

  static Status status = new Status { Size = (uint)Marshal.SizeOf<Status>() };
  static IntPtr world, answers;

  static IntPtr Pin(object value) =>
      GCHandle.Alloc(value, GCHandleType.Pinned).AddrOfPinnedObject();
  static IntPtr Sized(object value) {  // pins a struct and sets its first member
    IntPtr pinned = Pin(value);
    Marshal.WriteInt32(pinned, Marshal.SizeOf(value));
    return pinned;
  }
  static Column List<T>(T[] values) =>
      new Column { Data = Pin(values), Length = (UIntPtr)values.Length };
  static Column F(params double[] values) => List(values);
  static Column U(params uint[] values) => List(values);
  static T At<T>(Column column, int i) =>
      Marshal.PtrToStructure<T>(column.Data + i * (int)column.Stride * Marshal.SizeOf<T>());
  static string Text<T>(Column column) where T : IFormattable =>
      string.Concat(Enumerable.Range(0, (int)column.Length).Select(
          i => " " + At<T>(column, i).ToString("G17", CultureInfo.InvariantCulture)));
  static string Name(IntPtr text) => Marshal.PtrToStringAnsi(text);

  static void Check(uint code) {
    if (code != 0) throw new Exception(status.Field + ": " + status.Message);
  }
  static Batch Ask(Kind kind, object question) =>
      new Batch { Kind = kind, Question = Sized(question) };
  static uint Evaluate(params Batch[] group) =>
      carom_evaluate(world, group, (UIntPtr)group.Length, answers, ref status);
  static T Read<T>(Kind kind) where T : new() {
    IntPtr read = Sized(new T());
    Check(carom_answers_read(answers, kind, read, ref status));
    return Marshal.PtrToStructure<T>(read);
  }

  static void Main() {
    IntPtr none = IntPtr.Zero, set, shapes, scene;
    Check(carom_polygon_set_create(Sized(new Polygons {
        RingCount = U(2, 1), RingSize = U(4, 4, 3), X = F(0, 4, 4, 0, 1, 3, 3, 1, 6, 9, 6),
        Y = F(0, 0, 4, 4, 1, 1, 3, 3, 0, 0, 3) }), none, out set, ref status));
    Check(carom_shapes_create(none, Sized(new Capsules {
        Ax = F(0), Ay = F(0), Bx = F(0), By = F(0), Radius = F(0.5) }), out shapes, ref status));
    Check(carom_scene_create(set, 1, none, out scene, ref status));
    Check(carom_answers_create(none, out answers, ref status));
    world = Sized(new World { Scene = scene });

    var segment = new Segments { Ax = F(9), Ay = F(3), Bx = F(6), By = F(1) };
    Check(Evaluate(Ask(Kind.Segments, segment)));
    var hits = Read<CastAnswers>(Kind.Segments);
    Console.WriteLine("1 segment:{0},{1},{2},{3}", Text<ulong>(hits.Found.PolygonId),
        Text<double>(hits.Fraction), Text<double>(hits.NormalX), Text<double>(hits.NormalY));
    Batch[] group = {
      Ask(Kind.Segments, new Segments {
        Head = { Mode = 4 /* all passages */ }, Ax = F(-1), Ay = F(2), Bx = F(10), By = F(2) }),
      Ask(Kind.Rays, new Rays { X = F(2), Y = F(2), Dx = F(3), Dy = F(1) }),
      Ask(Kind.Points, new Points { X = F(0.5, 2, 4, 5), Y = F(0.5, 2, 2, double.NaN) }),
      Ask(Kind.Circles, new Circles { X = F(5), Y = F(2), Radius = F(1) }),
      Ask(Kind.Sights, new Sights { Ax = F(5, 5), Ay = F(5, 2), Bx = F(5, 2), By = F(0, 2) }),
      Ask(Kind.Fans, new Fans {
        X = F(5), Y = F(2), Angle = F(-1), Step = F(0.5), Range = F(10), Beams = U(5) }),
      Ask(Kind.Sweeps, new Sweeps {
        Movers = { Shapes = shapes, X = F(7), Y = F(6) }, ToX = F(7), ToY = F(0) }),
    };
    Check(Evaluate(group));
    hits = Read<CastAnswers>(Kind.Segments);
    Console.WriteLine("2 passages:{0},{1}",
        Text<ulong>(hits.Found.PolygonId), Text<double>(hits.Fraction));
    Console.WriteLine("3 ray:" + Text<double>(Read<CastAnswers>(Kind.Rays).Fraction));
    var points = Read<LocateAnswers>(Kind.Points);
    Console.WriteLine("4 points:{0},{1}",
        Text<uint>(points.Found.Counts), Text<byte>(points.Location));
    Console.WriteLine("5 disc:" + Text<byte>(Read<OverlapAnswers>(Kind.Circles).Touching));
    Console.WriteLine("6 sight:" + Text<byte>(Read<SightAnswers>(Kind.Sights).Visible));
    Console.WriteLine("7 fan:" + Text<double>(Read<FanAnswers>(Kind.Fans).Distances));
    Console.WriteLine("8 sweep:" + Text<double>(Read<SweepAnswers>(Kind.Sweeps).Fraction));
    segment.Bx = new Column();
    string code = Name(carom_code_name(Evaluate(Ask(Kind.Segments, segment))));
    Console.WriteLine("9 error: {0} {1}: {2}", code, status.Field, status.Message);
    Check(Evaluate(group));
    points = Read<LocateAnswers>(Kind.Points);
    Console.WriteLine("10 item{0}: {1} {2}\ndigest {3:x16}", Text<uint>(points.ErrorIndex),
        Name(carom_item_column_name(At<byte>(points.ErrorColumn, 0))),
        Name(carom_item_fault_description(At<byte>(points.ErrorFault, 0))),
        carom_answers_digest(answers));
  }
}
