import { Effect } from "effect"
import { createHash, createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { listening } from "./Listening.ts"

/** An object of the bucket. */
interface S3Object {
  readonly bytes: Buffer
  readonly contentType: string
}

/** What the bucket does instead of answering a request: an error, a broken connection, or no answer. */
type S3Fault = "error" | "reset" | "silence"

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
export const s3Emulator = Effect.suspend(() => {
  const { server, ...rest } = serve()
  return Effect.map(
    listening(server),
    (port): S3Emulator => ({ ...rest, bucket, endpoint: `http://127.0.0.1:${port}` })
  )
})

/** Keys that open the bucket of the emulator. */
export const s3Keys = { accessKeyId: "AKIDEMULATED", secretAccessKey: "an-emulated-secret" } as const

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest()

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** What a request says of its signature, in its headers or in its address. */
interface Shown {
  readonly credential: string
  readonly signedHeaders: string
  readonly signature: string
  readonly date: string
  readonly payload: string
}

const inHeader = (request: IncomingMessage): Shown | undefined => {
  const sent = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/
    .exec(request.headers.authorization ?? "")
  return sent === null ? undefined : {
    credential: sent[1] ?? "",
    signedHeaders: sent[2] ?? "",
    signature: sent[3] ?? "",
    date: String(request.headers["x-amz-date"]),
    payload: String(request.headers["x-amz-content-sha256"])
  }
}

const inAddress = (query: URLSearchParams): Shown => ({
  credential: query.get("X-Amz-Credential") ?? "",
  signedHeaders: query.get("X-Amz-SignedHeaders") ?? "",
  signature: query.get("X-Amz-Signature") ?? "",
  date: query.get("X-Amz-Date") ?? "",
  payload: "UNSIGNED-PAYLOAD"
})

const canonical = (request: IncomingMessage, url: URL, shown: Shown): string => {
  const query = [...url.searchParams].filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`).toSorted().join("&")
  const headers = shown.signedHeaders.split(";").map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  return [request.method, url.pathname, query, headers.join(""), shown.signedHeaders, shown.payload].join("\n")
}

const isOver = (date: string, seconds: number, now: number): boolean => {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? []
  return now > Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + seconds * 1_000
}

/** Why the bucket does not believe a request (AWS Signature Version 4); undefined when it does. */
const mistrust = (request: IncomingMessage, url: URL, now: number): string | undefined => {
  const shown = inHeader(request) ?? inAddress(url.searchParams)
  const [accessKeyId, day = "", region = "", service = "", end = ""] = shown.credential.split("/")
  if (accessKeyId !== s3Keys.accessKeyId || service !== "s3") return "InvalidAccessKeyId"
  const scope = [day, region, service, end]
  const text = ["AWS4-HMAC-SHA256", shown.date, scope.join("/"), sha256(canonical(request, url, shown))].join("\n")
  const key = scope.reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${s3Keys.secretAccessKey}`)
  if (hmac(key, text).toString("hex") !== shown.signature) return "SignatureDoesNotMatch"
  const life = url.searchParams.get("X-Amz-Expires")
  return life !== null && isOver(shown.date, Number(life), now) ? "AccessDenied" : undefined
}
