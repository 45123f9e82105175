import { createHash, createHmac } from "node:crypto"
import type { IncomingMessage } from "node:http"

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
export const mistrust = (request: IncomingMessage, url: URL, now: number): string | undefined => {
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
