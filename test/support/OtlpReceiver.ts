import { createServer } from "node:http"
import { at } from "./TestApp.ts"

/** A span as it came over the wire. */
export interface ReceivedSpan {
  /** Name of the service that sent it. */
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
  /** Everything that was sent of it, as text. */
  readonly json: string
}

const list = (value: unknown, path: string): ReadonlyArray<unknown> => {
  const found = at(value, path)
  return Array.isArray(found) ? found : []
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")

const attributesOf = (holder: unknown) =>
  Object.fromEntries(
    list(holder, "attributes").map((one) => [text(at(one, "key")), Object.values(Object(at(one, "value")))[0]])
  )

const spanOf = (span: unknown, service: string): ReceivedSpan => ({
  service,
  traceId: text(at(span, "traceId")),
  spanId: text(at(span, "spanId")),
  parentSpanId: text(at(span, "parentSpanId")) || undefined,
  name: text(at(span, "name")),
  attributes: attributesOf(span),
  json: JSON.stringify(span)
})

/** A receiver of traces (OTLP over HTTP, JSON) on a port of this machine; it remembers what it was sent. */
export const otlpReceiver = async () => {
  const spans: Array<ReceivedSpan> = []
  const requests: Array<{ readonly path: string; readonly headers: Readonly<Record<string, unknown>> }> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      requests.push({ path: request.url ?? "", headers: request.headers })
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
      for (const resource of list(body, "resourceSpans")) {
        const service = text(attributesOf(at(resource, "resource"))["service.name"])
        for (const scope of list(resource, "scopeSpans")) {
          spans.push(...list(scope, "spans").map((span) => spanOf(span, service)))
        }
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    requests,
    close: () => new Promise((resolve) => server.close(resolve))
  }
}
