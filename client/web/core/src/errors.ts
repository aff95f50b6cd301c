// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

/** The codes of gRPC, with their numbers. */
export const CODES = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type CaromCode = keyof typeof CODES;

const NAMES = new Map<number, CaromCode>(Object.entries(CODES).map(([name, number]) => [number, name as CaromCode]));

/** Returns the name of a code of gRPC; `UNKNOWN` for other numbers. */
export function codeName(number: number): CaromCode {
  return NAMES.get(number) ?? 'UNKNOWN';
}

/** What a server adds to an error. */
export interface CaromErrorDetails {
  /** Each field that is at fault, at most 16, and what is wrong with it. */
  violations?: readonly { field: string; description: string }[];
  /** [seconds] after which the same call may succeed. */
  retryAfter?: number;
  cause?: unknown;
}

/**
 * Why a call failed: the one class of errors of this package and of `@carom/client`.
 *
 * `field` is the path of the argument, such as `segments.ax[3]`; empty if the whole call is at fault.
 */
export class CaromError extends Error {
  override readonly name = 'CaromError';
  readonly code: CaromCode;
  readonly field: string;
  /** What is wrong, without code and field. */
  readonly detail: string;
  readonly violations: readonly { field: string; description: string }[];
  readonly retryAfter: number | undefined;

  constructor(code: CaromCode, field: string, detail: string, more: CaromErrorDetails = {}) {
    super(
      `${code}: ${field ? `${field}: ` : ''}${detail}`,
      more.cause === undefined ? undefined : { cause: more.cause },
    );
    this.code = code;
    this.field = field;
    this.detail = detail;
    this.violations = more.violations ?? [];
    this.retryAfter = more.retryAfter;
  }
}

/** The error for an argument that is not accepted. */
export function refuse(field: string, detail: string): CaromError {
  return new CaromError('INVALID_ARGUMENT', field, detail);
}
