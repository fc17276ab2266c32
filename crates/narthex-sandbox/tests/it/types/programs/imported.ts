import { get_forecast, delete as remove, type GetForecastInput, type GetForecastOutput } from "host:mcp-weather";
import * as weather from "host:mcp-weather";
import otherwise from "host:mcp-weather";
// @ts-expect-error
import { nothing } from "host:mcp-weather";
// @ts-expect-error
import { x } from "host:unknown";
const input: GetForecastInput = { location: "x" };
const output: GetForecastOutput = get_forecast(input);
const free: { [key: string]: any } = output;
remove(input);
otherwise(input);
weather.get_forecast.try(input).value?.days;
// @ts-expect-error
get_forecast({ location: ["x"] });
// @ts-expect-error
const wrong: GetForecastInput = {};
console.log(free, nothing, x, wrong);
