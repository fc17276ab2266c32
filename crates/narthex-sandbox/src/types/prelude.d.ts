/** Why a call did not happen or did not work. Every call of a host module may throw one. */
declare class HostError extends Error {
  private constructor();
  /** What went wrong, in a word that stays the same. */
  readonly code: string;
  /** The parameters the function takes, as a TypeScript type, when these were wrong. */
  readonly parameters?: string;
  /** Whether the same call may work later. */
  readonly retryable?: boolean;
}

/** What a call came to: a value or an error, never both. */
type Tried<O> =
  | { value: O; error?: undefined }
  | { value?: undefined; error: HostError };

/** A function of the host. It returns when the call is done. */
interface HostFunction<I, O> {
  (input: I): O;
  /** The same call; an error is returned instead of thrown. */
  try(input: I): Tried<O>;
}

/** A function of the host that needs no input. */
interface HostFunctionOptional<I, O> {
  (input?: I): O;
  /** The same call; an error is returned instead of thrown. */
  try(input?: I): Tried<O>;
}

/** A function of the host that takes no input. */
interface HostFunctionWithoutInput<O> {
  (input?: { [key: string]: never }): O;
  /** The same call; an error is returned instead of thrown. */
  try(input?: { [key: string]: never }): Tried<O>;
}

/** Data that is no text: an image, a sound, a file. */
interface Binary {
  readonly mimeType: string;
  /** In bytes. */
  readonly size: number;
  bytes(): Uint8Array;
}

/** Makes several calls at once and returns when all are done: `parallel([() => a.x(), () => b.y()])`. */
declare function parallel<const T extends readonly (() => unknown)[]>(
  calls: T,
): { -readonly [K in keyof T]: Awaited<ReturnType<T[K]>> };

declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
};

/** Bytes and texts. */
declare module "host:text" {
  /** A text as UTF-8. */
  export function toUtf8(text: string): Uint8Array;
  /** UTF-8 as a text; what is none becomes U+FFFD. */
  export function fromUtf8(bytes: Uint8Array): string;
  /** Bytes as base64. */
  export function toBase64(bytes: Uint8Array): string;
  /** Base64 as bytes. */
  export function fromBase64(text: string): Uint8Array;
}
declare function require(module: "host:text"): typeof import("host:text");
