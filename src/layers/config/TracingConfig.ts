import { Effect, Option, Redacted } from "effect"
import { oneOf, refuse, text } from "./Variables.ts"

/** Names of OpenTelemetry: all requests, or those of clients that do not say that theirs is not sampled. */
const samplers = ["always_on", "parentbased_always_on"] as const
export type Sampler = typeof samplers[number]

/** A receiver of traces that speaks OTLP over HTTP, with JSON bodies. */
export interface TracingSettings {
  /** Full address, `http://collector:4318/v1/traces`. */
  readonly url: string
  readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
  /** Name of this service among those of the receiver. */
  readonly serviceName: string
  /** Who decides whether a request is traced: the service, which traces all, or the client that began the trace. */
  readonly sampler: Sampler
}

/** `name=value,name=value`, with values as in an URL, as OpenTelemetry writes headers. */
const headersOf = (list: string): TracingSettings["headers"] =>
  Object.fromEntries(
    list.split(",").map((pair) => pair.split("=")).filter(([name = ""]) => name.trim() !== "").map((
      [name = "", ...value]
    ) => [name.trim().toLowerCase(), Redacted.make(decodeURIComponent(value.join("=").trim()))])
  )

/** Where traces go, by the variables of OpenTelemetry; undefined: nobody traces. */
export const tracing = Effect.gen(function*() {
  const own = yield* text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
  const common = Option.map(
    yield* text("OTEL_EXPORTER_OTLP_ENDPOINT"),
    (base) => `${base.replace(/\/$/, "")}/v1/traces`
  )
  const exporter = yield* oneOf("OTEL_TRACES_EXPORTER", ["otlp", "none"], "otlp")
  const url = Option.getOrUndefined(Option.orElse(own, () => common))
  if (url === undefined || exporter === "none") return undefined
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    const name = Option.isSome(own) ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT"
    return yield* refuse(name, url, "http://host:port")
  }
  const settings: TracingSettings = {
    url,
    sampler: yield* oneOf("OTEL_TRACES_SAMPLER", samplers, "always_on"),
    headers: headersOf(Option.getOrElse(yield* text("OTEL_EXPORTER_OTLP_HEADERS"), () => "")),
    serviceName: Option.getOrElse(yield* text("OTEL_SERVICE_NAME"), () => "stoa")
  }
  return settings
})
