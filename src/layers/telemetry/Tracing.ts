import { Effect, Layer, Redacted, References, Tracer } from "effect"
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

/** A span whose trace began elsewhere: at a client, or in another process of ours, where the edge has decided already. */
const isIncoming = ({ kind, parent }: Parameters<Tracer.Tracer["span"]>[0]): boolean =>
  kind === "server" && parent._tag === "Some" && parent.value._tag === "ExternalSpan"

/** A client decides whether its trace is sampled, and so could keep its requests out of the traces. */
const sampledBy = ({ sampler }: NonNullable<AppSettings["tracing"]>) => (tracer: Tracer.Tracer): Tracer.Tracer =>
  sampler === "parentbased_always_on"
    ? tracer
    : Tracer.make({ span: (options) => tracer.span(isIncoming(options) ? { ...options, sampled: true } : options) })

/**
 * Sends spans to the receiver that the environment names (`OTEL_EXPORTER_OTLP_ENDPOINT`): requests, calls of actors,
 * durable processes and statements, in one trace across processes. Without a receiver no span is made: that of each
 * statement is a good part of its work.
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
