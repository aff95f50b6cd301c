// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a status of a server become a CaromError, with its field path and its delay before another attempt?

import { CaromError, codeName } from '@carom/core/questions';
import { read } from './messages.js';
import { type Found, scan } from './reader.js';
import { table } from './tables.js';
import { LENGTH, VARINT } from './writer.js';

// The fields of google.rpc.Status, google.protobuf.Any, BadRequest and RetryInfo, and Duration that are read.
const ANYS = [undefined, undefined, undefined, LENGTH];
const ANY = [undefined, LENGTH, LENGTH];
const INFO = [undefined, LENGTH];
const DURATION = [undefined, VARINT, VARINT];
const MOST_DETAILS_BYTES = 65536;
const MOST_VIOLATIONS = 16;
const MOST_DELAY_SECONDS = 86400;

// Fields of messages that callers know by another name: a stream gives the scenes of groups handles of its own.
const NAMES: ReadonlyMap<string, string> = new Map([['scene_handle', 'scene']]);

interface Violation {
  field: string;
  description: string;
}

/** Returns the error of a code of gRPC. The first violation is its field path. */
export function makeError(code: number, message: string, violations: Violation[], delaySeconds: number): CaromError {
  const field = violations[0]?.field ?? '';
  const detail = field !== '' && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  const named = (each: string) => NAMES.get(each) ?? each;
  return new CaromError(codeName(code), named(field), detail, {
    violations: violations.map((each) => ({ ...each, field: named(each.field) })),
    ...(delaySeconds > 0 ? { retryAfter: Math.min(delaySeconds, MOST_DELAY_SECONDS) } : {}),
  });
}

/** Returns the error of the status of a frame or of a group. */
export function statusError(data: Uint8Array): CaromError {
  const fields = table('Status');
  const found = read('Status', data);
  const violations = found.all(fields['violations']![0]).slice(0, MOST_VIOLATIONS).map(violation);
  const delay = found.number(fields['retry_delay_us']![0]) / 1e6;
  return makeError(found.number(fields['code']![0]), found.text(fields['message']![0]), violations, delay);
}

function violation(data: Uint8Array): Violation {
  const found = read('FieldViolation', data);
  return { field: found.text(1), description: found.text(2) };
}

/** A message of google.protobuf.Any: the last part of the name of its type, and its bytes. */
export interface Detail {
  type: string;
  value: Uint8Array;
}

/** Returns the details in a google.rpc.Status; none if the bytes are no such message. */
export function statusDetails(data: Uint8Array): Detail[] {
  if (data.length > MOST_DETAILS_BYTES) return [];
  try {
    return scan(data, ANYS).all(3).map((any) => {
      const found = scan(any, ANY);
      return { type: found.text(1).replace(/^.*\//, ''), value: found.last(2) };
    });
  } catch {
    return []; // code and message remain
  }
}

/** Returns the error of a call, from its code, its message and its details. */
export function callError(code: number, message: string, details: readonly Detail[]): CaromError {
  const violations: Violation[] = [];
  let delay = 0;
  for (const { type, value } of details) {
    try {
      const infos = scan(value, INFO);
      if (type === 'google.rpc.BadRequest') violations.push(...infos.all(1).slice(0, MOST_VIOLATIONS).map(violation));
      else if (type === 'google.rpc.RetryInfo') delay = duration(scan(infos.last(1), DURATION));
    } catch {
      continue; // code and message remain
    }
  }
  return makeError(code, message, violations.slice(0, MOST_VIOLATIONS), delay);
}

function duration(found: Found): number {
  return found.number(1) + found.number(2) / 1e9;
}
