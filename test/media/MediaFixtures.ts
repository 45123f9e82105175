import { layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { mkdtempSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import sharp from "sharp"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import type { AppSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { answer } from "../support/ServiceCalls.ts"
import { type Answer, api, asAdmin, live, TestApp, testAppLayer } from "../support/TestApp.ts"

/** How a picture is kept. */
export type Format = "png" | "jpeg" | "gif" | "webp" | "avif"

/** A picture of one colour; another colour has another hash. */
export const aPicture = (format: Format = "png", width = 40, height = 30, red = 200) =>
  Effect.promise(async () =>
    new Uint8Array(
      await sharp({ create: { width, height, channels: 3, background: { r: red, g: 10, b: 90 } } })
        .toFormat(format).toBuffer()
    )
  )

/** A photograph as a telephone keeps it: lying on its side, with a note of how it is meant. */
export const aSidewaysPhoto = Effect.promise(async () =>
  new Uint8Array(
    await sharp({ create: { width: 60, height: 20, channels: 3, background: "#402010" } })
      .withMetadata({ orientation: 6 }).jpeg().toBuffer()
  )
)

/** A picture that moves: this many frames of 40 by 40. */
export const aMovingPicture = (frames: number) =>
  Effect.promise(async () => {
    const pixels = Buffer.from(Array.from({ length: 40 * 40 * 3 * frames }, (_, at) => (at * 7_919) % 251))
    const raw = { width: 40, height: 40 * frames, channels: 3, pageHeight: 40 } as const
    return new Uint8Array(await sharp(pixels, { raw }).gif().toBuffer())
  })

const textBytes = (text: string) => new TextEncoder().encode(text)

export const aPdf = textBytes("%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n")
export const aDrawing = textBytes(
  "<?xml version=\"1.0\"?>\n<!-- a dot -->\n<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"
)
export const aPage = textBytes("<!doctype html><script>alert(1)</script>")
/** The first boxes of an MP4 file. */
export const aVideo = textBytes(
  "\u0000\u0000\u0000\u0018ftypisom\u0000\u0000\u0002\u0000isomiso2\u0000\u0000\u0000\u0008mdat"
)

/** An upload; what is left out is a small PNG by the administrator. */
export interface SentFile {
  readonly bytes?: Uint8Array
  readonly name?: string
  readonly type?: string
  readonly as?: Partial<Actor> | undefined
  /** Fields beside the file. */
  readonly fields?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a form as a browser does. */
export const sendForm = (
  form: FormData,
  as: Partial<Actor> | undefined,
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async (): Promise<Answer> => {
      const response = await fetch(`${url}/api/media/upload`, {
        method: "POST",
        headers: { ...as === undefined ? {} : { "x-test-actor": JSON.stringify(as) }, ...headers },
        body: form
      })
      const text = await response.text()
      const json = response.headers.get("content-type")?.includes("json") === true
      return answer(response.status, response.headers, json ? JSON.parse(text) : text)
    }))

/** Uploads a file. */
export const upload = Effect.fnUntraced(function*(sent: SentFile = {}) {
  const bytes = sent.bytes ?? (yield* aPicture())
  const form = new FormData()
  for (const [name, value] of Object.entries(sent.fields ?? {})) form.set(name, value)
  form.set("file", new Blob([new Uint8Array(bytes)], { type: sent.type ?? "image/png" }), sent.name ?? "picture.png")
  return yield* sendForm(form, "as" in sent ? sent.as : asAdmin, sent.headers)
})

/** The id of a medium that was just uploaded. */
export const aMedium = (sent: SentFile = {}) =>
  Effect.map(upload(sent), (made) => {
    if (made.status !== 201) throw new Error(`upload: ${made.status} ${JSON.stringify(made.body)}`)
    return made.text("data.id")
  })

/** A file as it came back. */
export interface Fetched {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/** Follows an address of the service as a browser does, without saying who asks unless that is named. */
export const fetched = (
  address: string,
  as?: Partial<Actor>,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async (): Promise<Fetched> => {
      const response = await fetch(new URL(address, url), {
        method,
        redirect: "manual",
        headers: { ...as === undefined ? {} : { "x-test-actor": JSON.stringify(as) }, ...headers }
      })
      return {
        status: response.status,
        headers: response.headers,
        bytes: new Uint8Array(await response.arrayBuffer())
      }
    }))

/** Where `GET /api/media/:id` leads; the test fails where it leads nowhere. */
export const addressOf = (id: string, query = "", as: Partial<Actor> | undefined = asAdmin) =>
  Effect.map(api("GET", `/api/media/${id}${query}`, as === undefined ? {} : { as }), (found) => {
    const address = found.headers.get("location")
    if (found.status !== 302 || address === null) throw new Error(`${found.status} ${JSON.stringify(found.body)}`)
    return address
  })

/** Lets an entity show a medium; the test fails where that is refused. */
export const attach = Effect.fnUntraced(function*(entityId: string, mediaAssetId: string, more: object = {}) {
  const body = { entityId, mediaAssetId, role: "primary", ...more }
  const made = yield* api("POST", "/api/media/attach", { as: asAdmin, body })
  if (made.status !== 201) throw new Error(`attach: ${made.status} ${JSON.stringify(made.body)}`)
})

/** Bytes that come back from an address; none of them is kept. */
export const fetchedSize = (address: string) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async () => {
      const { body } = await fetch(new URL(address, url), { headers: { "x-test-actor": JSON.stringify(asAdmin) } })
      let size = 0
      for await (const part of body ?? []) size += part.length
      return size
    }))

/** The data directory of the service under test. */
export class Shelf extends Context.Service<Shelf, { readonly folder: string }>()("stoa/test/media/Shelf") {}

const ownFolder = Layer.effect(
  Shelf,
  Effect.acquireRelease(
    Effect.sync(() => ({ folder: mkdtempSync(join(tmpdir(), "stoa-media-")) })),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
)

/** The whole service with a separate data directory. */
export const shelfLayer = (deployment: DeploymentConfig = {}, environment: Partial<AppSettings> = {}) =>
  Layer.unwrap(Effect.map(Shelf, ({ folder }) => testAppLayer(deployment, { dataDir: folder, ...environment }))).pipe(
    Layer.provideMerge(ownFolder)
  )

/** A group of tests around such a service. */
export const withShelf = (deployment: DeploymentConfig = {}, environment: Partial<AppSettings> = {}) =>
  layer(shelfLayer(deployment, environment), live)

const filesBelow = async (folder: string): Promise<ReadonlyArray<string>> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).toSorted()
}

/** Names of the stored files, and of the temporary ones. */
export const stored = Effect.flatMap(
  Shelf,
  ({ folder }) => Effect.promise(() => filesBelow(join(folder, "media/files")))
)
export const arriving = Effect.flatMap(
  Shelf,
  ({ folder }) => Effect.promise(() => filesBelow(join(folder, "media/incoming")))
)

/** Number of assets, and of files to remove. */
export const rows = Effect.map(
  onDatabase((sql) =>
    sql<{ assets: number; doomed: number }>`select (select count(*)::int4 from media_assets) as assets,
      (select count(*)::int4 from media_removals) as doomed`
  ),
  ([found]) => found ?? { assets: -1, doomed: -1 }
)

/** Runs the scheduled task of media, in a service that runs no jobs by itself. */
export const mediaTurn = Effect.gen(function*() {
  yield* onDatabase((sql) =>
    sql`insert into commerce_jobs (id, organization_id, task_slug)
      values (gen_random_uuid(), 'org_default', 'retention/media-files')`
  )
  const run = yield* api("POST", "/api/jobs/run", { as: asAdmin })
  if (run.status !== 200) throw new Error(`jobs: ${run.status} ${JSON.stringify(run.body)}`)
})

const boundary = "the-boundary"

/** The beginning of a form, up to the first byte of its file. */
const opening = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.pdf"\r\n` +
  "Content-Type: application/pdf\r\n\r\n%PDF-1.7\n"
const closing = `\r\n--${boundary}--\r\n`

/** The answer; status 0 without one. */
export interface RawAnswer {
  readonly status: number
  readonly body: string
}

/** How a form is sent; sizes in bytes. */
export interface RawForm {
  /** Of the file, which is sent in pieces. */
  readonly size: number
  /** Announces the length of the whole form instead of sending it in chunks. */
  readonly declared?: boolean
  /** The client hangs up when this much of the file is sent. */
  readonly hangsUpAfter?: number
  /** The client pauses when this much is sent. */
  readonly pausesAfter?: number
  /** The form ends there, without its last boundary. */
  readonly unfinished?: boolean
}

const chunk = Buffer.alloc(65_536, 0x20)

/** Sends a PDF of this size as a stream, with a client that may not behave. */
export const sendRaw = (form: RawForm, base?: string) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.callback<RawAnswer>((resume) => {
      const { declared = false, hangsUpAfter, pausesAfter, size, unfinished = false } = form
      const length = opening.length + size + closing.length
      const sent = request(`${base ?? url}/api/media/upload`, {
        method: "POST",
        agent: false,
        headers: {
          "content-type": `multipart/form-data; boundary=${boundary}`,
          "x-test-actor": JSON.stringify(asAdmin),
          ...declared ? { "content-length": String(length) } : {}
        }
      })
      sent.on("response", (response) => {
        let body = ""
        response.on("data", (part: Buffer) => {
          body += part.toString()
        })
        response.on("end", () => {
          resume(Effect.succeed({ status: response.statusCode ?? 0, body }))
          sent.destroy()
        })
      })
      sent.on("error", (error) => resume(Effect.succeed({ status: 0, body: String(error) })))
      sent.write(opening)
      let left = size
      const more = () => {
        for (;;) {
          if (hangsUpAfter !== undefined && size - left >= hangsUpAfter) return void sent.destroy()
          if (pausesAfter !== undefined && size - left >= pausesAfter) return undefined
          if (left <= 0) return void sent.end(unfinished ? "" : closing)
          const part = left >= chunk.length ? chunk : chunk.subarray(0, left)
          left -= part.length
          if (!sent.write(part)) return void sent.once("drain", more)
        }
      }
      more()
      return Effect.sync(() => sent.destroy())
    }))

/** A request without a valid form. */
export const sendNonsense = (contentType: string, body: string) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async () => {
      const answer = await fetch(`${url}/api/media/upload`, {
        method: "POST",
        headers: { "content-type": contentType, "x-test-actor": JSON.stringify(asAdmin) },
        body
      })
      return { status: answer.status, body: await answer.text() }
    }))
