const weather = require("host:mcp-weather");
const other = require("host:other");
const r = weather.get_forecast({ location: "Austin" });
const high: number = r.days[0]!.high;
const tried = weather.get_forecast.try({ location: "Austin", days: 2 });
if (tried.error) {
  const code: string = tried.error.code;
  const retry: boolean | undefined = tried.error.retryable;
  const parameters: string | undefined = tried.error.parameters;
  const message: string = tried.error.message;
  console.error(code, retry, parameters, message);
  // @ts-expect-error
  tried.value.days;
} else {
  const high: number = tried.value.days[0]!.high;
  console.log(high);
}
try {
  weather.search();
  weather.search({});
  weather.search({ text: "x" }).whatever.there.is;
  weather.ping().days.length;
  weather.ping({}).days.length;
  weather.ping.try();
  other.other();
} catch (error) {
  if (error instanceof HostError) console.warn(error.code);
}
const [first, second] = parallel([() => weather.get_forecast({ location: "a" }), () => 1]);
const days: number = first.days.length;
const one: number = second;
const all = parallel(["a", "b"].map((location) => () => weather.get_forecast({ location })));
const highs: number[] = all.map((forecast) => forecast.days[0]!.high);
weather.delete({ location: "x" });
weather.default({ location: "x" });
weather.keywords({ class: "x", new: "y" });
weather.keywords({});
declare const picture: Binary;
const bytes: Uint8Array = picture.bytes();
console.info(picture.mimeType, picture.size + 1, bytes, high, days, one, highs);
console.debug();

// @ts-expect-error
weather.get_forecast();
// @ts-expect-error
weather.get_forecast({});
// @ts-expect-error
weather.get_forecast({ location: 1 });
// @ts-expect-error
weather.get_forecast({ location: "x", dais: 1 });
// @ts-expect-error
weather.get_forecast({ location: "x" }, 1);
// @ts-expect-error
weather.get_forecast.try({ location: null });
// @ts-expect-error
weather.get_forecast({ location: "x" }).nights;
// @ts-expect-error
weather.search({ text: 1 });
// @ts-expect-error
weather.ping({ a: 1 });
// @ts-expect-error
weather.nothing();
// @ts-expect-error
weather.__function_4;
// @ts-expect-error
require("host:unknown");
// @ts-expect-error
require("fs");
// @ts-expect-error
new HostError();
// @ts-expect-error
tried.value.days;
// @ts-expect-error
const text: string = second;
// @ts-expect-error
parallel([1]);
// @ts-expect-error
picture.size = 1;
// @ts-expect-error
process.exit();
export {};
