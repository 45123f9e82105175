import { Effect } from "effect"
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { mistrust } from "./S3Signature.ts"

/** An object of the bucket. */
export interface S3Object {
  readonly bytes: Buffer
  readonly contentType: string
}

/** What the bucket does instead of answering a request: an error, a broken connection, or no answer. */
export type S3Fault = "error" | "reset" | "silence"

/** A bucket that speaks the protocol of S3 on this machine: signatures, hashes, ranges, addresses that end. */
export interface S3Emulator {
  readonly endpoint: string
  readonly bucket: string
  readonly objects: ReadonlyMap<string, S3Object>
  /** Method and key of every request that was believed. */
  readonly asked: ReadonlyArray<string>
  /** The next requests of this method meet with this. */
  readonly fail: (method: string, fault: S3Fault, times?: number) => void
  /** Requests that were met with silence so far. */
  readonly waiting: () => number
  /** Nothing fails any more. */
  readonly mend: () => void
  /** How the next answers begin: this many seconds later than it is. */
  readonly moveClock: (seconds: number) => void
}

const bucket = "stoa-media"

const error = (answer: ServerResponse, status: number, code: string) =>
  answer.writeHead(status, { "content-type": "application/xml" })
    .end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`)

const read = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

const put = async (objects: Map<string, S3Object>, key: string, request: IncomingMessage, answer: ServerResponse) => {
  const bytes = await read(request)
  const sent = request.headers["x-amz-checksum-sha256"]
  // A real bucket takes what bears no hash; the service never sends such a thing.
  if (sent !== createHash("sha256").update(bytes).digest("base64")) {
    return error(answer, 400, "BadDigest")
  }
  objects.set(key, { bytes, contentType: request.headers["content-type"] ?? "binary/octet-stream" })
  return answer.writeHead(200, { etag: "\"x\"" }).end()
}

const get = (found: S3Object | undefined, url: URL, request: IncomingMessage, answer: ServerResponse) => {
  if (found === undefined) return error(answer, 404, "NoSuchKey")
  const { bytes, contentType } = found
  const headers = {
    "content-type": url.searchParams.get("response-content-type") ?? contentType,
    ...url.searchParams.has("response-content-disposition")
      ? { "content-disposition": url.searchParams.get("response-content-disposition") ?? "" }
      : {}
  }
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "")
  if (range === null) return answer.writeHead(200, { ...headers, "content-length": bytes.length }).end(bytes)
  const part = bytes.subarray(Number(range[1]), Number(range[2]) + 1)
  return answer.writeHead(206, {
    ...headers,
    "content-length": part.length,
    "content-range": `bytes ${range[1]}-${range[2]}/${bytes.length}`
  }).end(part)
}

const serve = () => {
  const objects = new Map<string, S3Object>()
  const asked: Array<string> = []
  const faults: Array<{ readonly method: string; readonly fault: S3Fault }> = []
  let [ahead, silences] = [0, 0]

  const answerTo = async (request: IncomingMessage, answer: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://localhost")
    const at = faults.findIndex(({ method }) => method === request.method)
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
    if (fault === "silence") return void silences++
    if (fault === "reset") return void request.socket.destroy()
    if (fault === "error") return error(answer, 503, "SlowDown")
    const reason = mistrust(request, url, Date.now() + ahead * 1_000)
    if (reason !== undefined) return error(answer, 403, reason)
    const key = decodeURIComponent(url.pathname).replace(`/${bucket}/`, "")
    asked.push(`${request.method} ${key}`)
    if (request.method === "PUT") return put(objects, key, request, answer)
    if (request.method === "GET") return get(objects.get(key), url, request, answer)
    objects.delete(key)
    return answer.writeHead(204).end()
  }

  const server = createServer((request, answer) => void answerTo(request, answer))
  const fail = (method: string, fault: S3Fault, times = 1) => {
    for (let n = 0; n < times; n++) faults.push({ method, fault })
  }
  const moveClock = (seconds: number) => {
    ahead = seconds
  }
  const mend = () => void faults.splice(0)
  return { server, objects, asked, fail, moveClock, mend, waiting: () => silences }
}

/** Starts a bucket; it ends with the scope. */
export const s3Emulator = Effect.acquireRelease(
  Effect.callback<S3Emulator & { readonly close: () => void }>((resume) => {
    const { server, ...rest } = serve()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const close = () => {
        server.closeAllConnections()
        server.close()
      }
      resume(Effect.succeed({ ...rest, bucket, endpoint: `http://127.0.0.1:${port}`, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)
