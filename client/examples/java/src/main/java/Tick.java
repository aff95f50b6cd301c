// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

import carom.v1.*;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import java.util.List;

/** Ticks of a game over one stream: what do bullets hit? (docs/java.md) Usage: Tick ADDRESS */
public final class Tick {
  private static Polygon box(long id, double minX, double minY, double maxX, double maxY) {
    Ring ring = Ring.newBuilder().addAllX(List.of(minX, maxX, maxX, minX)).addAllY(List.of(minY, minY, maxY, maxY)).build();
    return Polygon.newBuilder().setId(id).addRings(ring).build();
  }

  private static Frame frame(long tick) {
    SegmentCasts.Builder bullets = SegmentCasts.newBuilder().setDetail(CastDetail.CAST_DETAIL_FRACTION);
    for (int i = 0; i < 3; ++i) bullets.addAx(0).addAy(i + tick).addBx(16).addBy(i + tick);
    return Frame.newBuilder().setSeq(tick).setBudgetUs(40_000) // a tick of Minecraft has 50 ms
        .addGroups(Group.newBuilder().setScene("scenes/java").setSegments(bullets)).build();
  }

  private static void print(FrameAnswer answer) {
    if (answer.hasStatus()) throw new IllegalStateException(answer.getStatus().getMessage());
    GroupAnswer group = answer.getGroups(0);
    if (group.hasStatus()) throw new IllegalStateException(group.getStatus().getMessage());
    CastAnswers hits = group.getSegments(); // rows of all bullets, one after the other: counts has the rows of each
    for (int bullet = 0, row = 0; bullet < hits.getCountsCount(); ++bullet) {
      for (int end = row + hits.getCounts(bullet); row < end; ++row) {
        System.out.printf("tick %d: bullet %d hits %d at %.4f%n", answer.getSeq(), bullet, hits.getPolygonId(row),
            hits.getFraction(row));
      }
    }
  }

  public static void main(String[] args) throws Exception {
    var channel = Grpc.newChannelBuilder(args[0], InsecureChannelCredentials.create()).maxInboundMessageSize(64 << 20).build();
    var scenes = SceneServiceGrpc.newBlockingV2Stub(channel);
    try {
      scenes.createScene(CreateSceneRequest.newBuilder().setName("scenes/java").addPolygons(box(1, 4, -1, 5, 2))
          .addPolygons(box(2, 8, 1, 9, 9)).build());
      BlockingClientCall<StreamRequest, StreamResponse> stream = QueryServiceGrpc.newBlockingV2Stub(channel).stream();
      for (long tick = 0; tick < 3; ++tick) {
        stream.write(StreamRequest.newBuilder().setFrame(frame(tick)).build());
        print(stream.read().getAnswer());
      }
      stream.halfClose();
      scenes.getScene(GetSceneRequest.newBuilder().setName("scenes/missing").build());
    } catch (StatusException error) {
      System.out.println(error.getStatus().getCode() + ": " + error.getStatus().getDescription());
    }
    channel.shutdown();
  }
}
