// What a program finds around it, made before the program comes. Evaluates to a function of what the worker can
// do; that returns what the worker needs to tell which modules there are, and to end the program.
(function (native) {
  "use strict";
  const { parse, stringify } = JSON;
  const { freeze, defineProperty, fromEntries, getPrototypeOf } = Object;
  const { isArray, from: arrayOf } = Array;
  const { fromCharCode } = String;
  const { apply, construct } = Reflect;
  const ThePromise = Promise;
  const TheDate = Date;
  const TheError = Error;
  const global = globalThis;

  class HostError extends TheError {
    constructor({ code, message, parameters, retryable }) {
      super(parameters === undefined ? message : `${message}; it takes ${parameters}`);
      this.code = code;
      if (parameters !== undefined) this.parameters = parameters;
      if (retryable) this.retryable = true;
    }
  }
  defineProperty(HostError.prototype, "name", { value: "HostError", configurable: true, writable: true });

  const { toPrimitive } = Symbol;
  const PROMISED = " (inside parallel a call returns a promise: return it, or make the function async and await it)";

  // Calls. While something runs in parallel they return promises; else they wait.
  const pending = new Map();
  let deferring = 0;
  let deferred = 0;

  function told([, kind, text, binaries]) {
    if (kind === "thrown") throw new HostError(parse(text));
    let value = parse(text);
    if (binaries !== null) for (const mark of parse(binaries)) value = placed(value, mark);
    return value;
  }

  // Puts a handle where bytes belong.
  function placed(value, { at, mime, size, binary }) {
    const handle = freeze({ mimeType: mime, size, bytes: () => native.fetch(binary) });
    handles.add(handle);
    if (at === "") return handle;
    const steps = at.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = steps.pop();
    let inside = value;
    for (const step of steps) inside = inside[step];
    inside[last] = handle;
    return value;
  }
  const handles = new WeakSet();

  function hear() {
    const reply = native.receive();
    const waiting = pending.get(reply[0]);
    if (waiting === undefined) return reply;
    pending.delete(reply[0]);
    try {
      waiting.resolve(told(reply));
    } catch (error) {
      waiting.reject(error);
    }
    return undefined;
  }

  // Half a character, as cutting a text leaves it, is no text anywhere else.
  const { toWellFormed, includes } = String.prototype;
  const wellFormed = (text) => apply(toWellFormed, text, []);
  const isCut = (json) => apply(includes, json, ["\\ud"]);
  const mended = (key, value) => (typeof value === "string" ? wellFormed(value) : value);

  function ask(module, index, name, args) {
    const input = args.length === 0 || args[0] === undefined ? {} : args[0];
    if (args.length > 1 || input === null || typeof input !== "object" || isArray(input)) {
      throw new TypeError(`${name} takes one object with its arguments by name`);
    }
    let text = stringify(input);
    if (typeof text === "string" && isCut(text)) text = stringify(input, mended);
    if (typeof text !== "string" || text[0] !== "{") {
      throw new TypeError(`${name} takes one object that can be written as JSON`);
    }
    const call = native.send(module, index, text, deferring > 0);
    if (deferring > 0) {
      deferred += 1;
      const answer = new ThePromise((resolve, reject) => pending.set(call, { resolve, reject }));
      // What takes it for the answer itself hears so, and does not go on with "[object Promise]".
      return defineProperty(answer, toPrimitive, { value: () => { throw new TypeError(`${name} was called${PROMISED}`); } });
    }
    for (;;) {
      const reply = hear();
      if (reply !== undefined) return told(reply);
    }
  }

  function bound(module, index, name) {
    const call = (...args) => ask(module, index, name, args);
    const tried = (...args) => {
      const failed = (error) => {
        if (error instanceof HostError) return { error };
        throw error;
      };
      try {
        const value = ask(module, index, name, args);
        return deferring > 0 ? value.then((value) => ({ value }), failed) : { value };
      } catch (error) {
        return failed(error);
      }
    };
    defineProperty(call, "name", { value: name });
    defineProperty(call, "try", { value: tried, enumerable: true });
    return freeze(call);
  }

  // Bytes as a text of one character each.
  function latin(bytes) {
    if (!(bytes instanceof Uint8Array)) throw new TypeError("these are no bytes: give a Uint8Array");
    let text = "";
    for (let at = 0; at < bytes.length; at += 4096) text += apply(fromCharCode, null, bytes.subarray(at, at + 4096));
    return text;
  }

  // Modules, made when they are first asked for.
  const made = new Map();
  made.set("host:text", freeze({
    toUtf8: (text) => native.toUtf8(wellFormed(`${text}`)),
    fromUtf8: (bytes) => native.fromUtf8(latin(bytes)),
    toBase64: (bytes) => native.toBase64(latin(bytes)),
    fromBase64: (text) => native.fromBase64(wellFormed(`${text}`)),
  }));
  let modules = [];
  const places = new Map();
  function begin(all) {
    modules = all;
    modules.forEach((module, place) => places.set(module.name, place));
  }

  function require(name) {
    const known = made.get(name);
    if (known !== undefined) return known;
    const place = places.get(name);
    if (place === undefined) {
      const names = [...places.keys(), "host:text"].join(", ");
      throw new TheError(`there is no module ${stringify(`${name}`)}; there are: ${names}`);
    }
    const module = {};
    modules[place].functions.forEach((name, index) => {
      defineProperty(module, name, { value: bound(place, index, name), enumerable: true });
    });
    freeze(module);
    made.set(name, module);
    return module;
  }

  // Several calls at once.
  function parallel(calls) {
    const thunks = arrayOf(calls);
    const results = thunks.map(() => undefined);
    const errors = [];
    let left = 0;
    deferring += 1;
    try {
      thunks.forEach((thunk, place) => {
        if (typeof thunk !== "function") {
          throw new TypeError("parallel takes functions: parallel([() => a.f({}), () => b.g({})])");
        }
        const before = deferred;
        let value;
        try {
          value = thunk();
        } catch (error) {
          errors.push({ place, error: hinted(error, deferred > before) });
          return;
        }
        left += 1;
        ThePromise.resolve(value).then(
          (value) => { results[place] = value; left -= 1; },
          (error) => { errors.push({ place, error: hinted(error, deferred > before) }); left -= 1; },
        );
      });
      while (left > 0) {
        if (!native.turn() && !deliver()) throw new TheError("parallel waits for something that never comes");
      }
    } finally {
      deferring -= 1;
    }
    if (errors.length > 0) throw errors.sort((a, b) => a.place - b.place)[0].error;
    return results;
  }

  // A thunk that used the answer of a call right away got a promise.
  function hinted(error, called) {
    if (called && error instanceof TypeError) {
      if (!error.message.endsWith(PROMISED)) error.message += PROMISED;
    }
    return error;
  }

  // Hears one answer, if any is to come.
  function deliver() {
    if (pending.size === 0) return false;
    native.waits();
    hear();
    return true;
  }

  // The console.
  function shown(value) {
    if (typeof value === "string") return value;
    if (typeof value === "function") return `[function ${value.name}]`;
    if (value instanceof TheError) return `${value}`;
    if (value !== null && typeof value === "object") {
      try {
        const text = stringify(value, plain);
        if (text !== undefined) return text;
      } catch {
        return getPrototypeOf(value) === null ? "[object]" : `${value}`;
      }
    }
    return String(value);
  }
  const says = (level) => (...values) => { native.say(level, wellFormed(values.map(shown).join(" "))); };
  const log = says("log");
  defineProperty(global, "console", {
    value: freeze({ log, info: log, debug: log, trace: log, table: log, dir: log, warn: says("warn"), error: says("error") }),
    writable: true, configurable: true,
  });

  // A clock that says what it was told, and randomness of a seed.
  const now = () => native.now();
  function SeededDate(...args) {
    if (new.target === undefined) return new TheDate(now()).toString();
    return construct(TheDate, args.length === 0 ? [now()] : args, new.target);
  }
  defineProperty(SeededDate, "name", { value: "Date" });
  SeededDate.prototype = TheDate.prototype;
  defineProperty(SeededDate.prototype, "constructor", { value: SeededDate, writable: true, configurable: true });
  SeededDate.now = now;
  SeededDate.parse = TheDate.parse;
  SeededDate.UTC = TheDate.UTC;
  defineProperty(global, "Date", { value: SeededDate, writable: true, configurable: true });
  Math.random = () => native.random();

  // What is no JSON by itself, as near as JSON comes to it.
  function plain(key, value) {
    if (typeof value === "bigint") return `${value}`;
    if (value instanceof Map) return fromEntries(value);
    if (value instanceof Set) return arrayOf(value);
    if (value instanceof TheError) return { name: value.name, message: value.message, code: value.code };
    if (value instanceof Uint8Array) return { base64: native.toBase64(latin(value)) };
    if (value !== null && typeof value === "object" && handles.has(value)) {
      return { mimeType: value.mimeType, size: value.size };
    }
    return value;
  }

  for (const [name, value] of [
    ["require", require], ["__hostRequire", require],
    ["__hostImport", async (name) => { const module = require(`${name}`); return { default: module, ...module }; }],
    ["parallel", parallel], ["HostError", HostError],
  ]) {
    defineProperty(global, name, { value, writable: !name.startsWith("__"), configurable: !name.startsWith("__") });
  }
  const exported = {};
  const module = { exports: exported };
  defineProperty(global, "module", { value: module, writable: true, configurable: true });
  defineProperty(global, "exports", { value: exported, writable: true, configurable: true });

  // A class is no function to be called.
  const { toString: sourceOf } = Function.prototype;
  const isClass = (value) => apply(sourceOf, value, []).startsWith("class");

  // The value of the program as JSON; undefined if it has none.
  async function finish(program) {
    let value = (await program).value;
    if (value === undefined && (module.exports !== exported || Object.keys(exported).length > 0)) {
      value = module.exports;
    }
    if (typeof value === "function" && !isClass(value)) value = value();
    value = await value;
    if (value === undefined) return undefined;
    const text = stringify(value, plain);
    if (text === undefined || !isCut(text)) return text;
    return stringify(value, (key, value) => mended(key, plain(key, value)));
  }

  return { begin, finish, deliver };
})
