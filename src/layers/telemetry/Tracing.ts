import { Layer, Redacted } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import type { AppSettings } from "../config/AppConfig.ts"
import { version } from "../Version.ts"
import { redactValue } from "./Redaction.ts"

/** Bodies as JSON. Failures are part of a span, so the same is taken out of them as out of the log. */
const serialization = Layer.succeed(OtlpSerialization.OtlpSerialization, {
  traces: (data) => HttpBody.text(JSON.stringify(redactValue(data)), "application/json"),
  metrics: (data) => HttpBody.text(JSON.stringify(data), "application/json"),
  logs: (data) => HttpBody.text(JSON.stringify(data), "application/json")
})

/**
 * Sends spans to the receiver that the environment names (`OTEL_EXPORTER_OTLP_ENDPOINT`): requests, calls of actors,
 * durable processes and statements, in one trace across processes. Without a receiver there is no layer, and Effect's
 * own tracer, which keeps nothing, stays.
 */
export const tracingLayer = ({ tracing }: AppSettings): Layer.Layer<never> =>
  tracing === undefined ? Layer.empty : OtlpTracer.layer({
    url: tracing.url,
    headers: Object.fromEntries(Object.entries(tracing.headers).map(([name, value]) => [name, Redacted.value(value)])),
    resource: { serviceName: tracing.serviceName, serviceVersion: version },
    exportInterval: "1 second"
  }).pipe(Layer.provide(Layer.merge(serialization, FetchHttpClient.layer)))
