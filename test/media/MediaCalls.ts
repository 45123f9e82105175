import { Effect } from "effect"
import type { Actor } from "../../src/domain/access/Actor.ts"
import { answer } from "../support/ServiceCalls.ts"
import { type Answer, api, asAdmin, TestApp } from "../support/TestApp.ts"
import { aPicture } from "./Pictures.ts"

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
