// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can a client do by gRPC alone? Import scenes that are larger than a message.

import { create, toBinary } from '@bufbuild/protobuf';
import { Polygons, type PolygonOptions, type PolygonsLike } from '@carom/core/questions';
import { type Deadline, parse } from '../calls.js';
import { Client, deadlineOf } from '../client.js';
import { chunks } from '../codec/chunks.js';
import { polygonMessages } from '../codec/polygons.js';
import { ImportMode, ImportSceneRequestSchema, ImportSceneResponseSchema } from '../generated/carom/v1/scene_service_pb.js';
import { type SceneLike, type SceneSummary, sceneName, summaryOf } from '../values.js';
import type { GrpcTransport } from './transport.js';

const MOST_VERTICES = 2 ** 17; // of a scene that is one message

/** A client in Node.js. */
export class NodeClient extends Client {
  constructor(
    private readonly grpc: GrpcTransport,
    deadlineMs: number | null,
  ) {
    super(grpc, deadlineMs);
  }

  /** As in browsers; a scene that is larger than a message is imported. */
  override createScene(
    name: SceneLike,
    polygons: PolygonsLike,
    options: PolygonOptions & Deadline = {},
  ): Promise<SceneSummary> {
    const { deadlineMs, signal, ...rest } = options;
    const made = new Polygons(polygons, rest);
    const deadline = deadlineOf({ deadlineMs, signal });
    const isLarge = made.x.length + made.userData.length / 16 > MOST_VERTICES;
    return isLarge ? this.upload(name, made, ImportMode.CREATE, deadline) : super.createScene(name, made, deadline);
  }

  /**
   * Registers a scene of any size. It becomes visible when the server has all of it.
   *
   * replace: whether a scene of this name is replaced, as a new version; else ALREADY_EXISTS
   */
  async importScene(
    name: SceneLike,
    polygons: PolygonsLike,
    options: PolygonOptions & Deadline & { replace?: boolean } = {},
  ): Promise<SceneSummary> {
    const { deadlineMs, signal, replace = false, ...rest } = options;
    const mode = replace ? ImportMode.REPLACE : ImportMode.CREATE;
    return this.upload(name, new Polygons(polygons, rest), mode, deadlineOf({ deadlineMs, signal }));
  }

  private async upload(
    name: SceneLike,
    polygons: Polygons,
    mode: ImportMode,
    deadline: Deadline,
  ): Promise<SceneSummary> {
    const first = { name: sceneName(name), mode };
    const messages = polygonMessages(polygons);
    const requests = function* () {
      let rest: object = first;
      for (const part of chunks(messages)) {
        yield toBinary(ImportSceneRequestSchema, create(ImportSceneRequestSchema, { ...rest, ...part }));
        rest = {};
      }
    };
    const response = await this.caller.attempt(
      deadline,
      () => false,
      (options) => this.grpc.clientStream('ImportScene', requests(), options),
    );
    return summaryOf(parse(ImportSceneResponseSchema, response).scene);
  }
}
