import { Effect, Layer, Redacted, References, Tracer } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import type { AppSettings } from "../config/AppConfig.ts"
import { version } from "../Version.ts"
import { redactValue } from "./Redaction.ts"

/** JSON bodies, redacted like the log: spans contain failures. */
const serialization = Layer.succeed(OtlpSerialization.OtlpSerialization, {
  traces: (data) => HttpBody.text(JSON.stringify(redactValue(data)), "application/json"),
  metrics: (data) => HttpBody.text(JSON.stringify(data), "application/json"),
  logs: (data) => HttpBody.text(JSON.stringify(data), "application/json")
})

/** Its trace began elsewhere: at a client, or in a process whose edge has decided. */
const isIncoming = ({ kind, parent }: Parameters<Tracer.Tracer["span"]>[0]): boolean =>
  kind === "server" && parent._tag === "Some" && parent.value._tag === "ExternalSpan"

/** A client could otherwise keep its requests out of the traces. */
const sampledBy = ({ sampler }: NonNullable<AppSettings["tracing"]>) => (tracer: Tracer.Tracer): Tracer.Tracer =>
  sampler === "parentbased_always_on"
    ? tracer
    : Tracer.make({ span: (options) => tracer.span(isIncoming(options) ? { ...options, sampled: true } : options) })

/**
 * Sends spans of requests, actor calls, durable processes and statements to `OTEL_EXPORTER_OTLP_ENDPOINT`. Without a
 * receiver no span is made: that of a statement is a good part of its work.
 */
export const tracingLayer = ({ tracing }: AppSettings): Layer.Layer<never> =>
  tracing === undefined ?
    Layer.succeed(References.TracerEnabled, false) :
    Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, sampledBy(tracing))).pipe(
      Layer.provide(OtlpTracer.layer({
        url: tracing.url,
        headers: Object.fromEntries(
          Object.entries(tracing.headers).map(([name, value]) => [name, Redacted.value(value)])
        ),
        resource: { serviceName: tracing.serviceName, serviceVersion: version },
        exportInterval: "1 second"
      })),
      Layer.provide(Layer.merge(serialization, FetchHttpClient.layer))
    )
