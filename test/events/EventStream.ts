import { Effect, type Scope } from "effect"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, at, TestApp } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

/** Creates a catalog entity, which emits `catalog.create`; returns its id. */
export const anEntity = (as: Partial<Actor> = asAdmin) =>
  Effect.map(
    api("POST", "/api/catalog/entities", { as, body: { type: "product", slug: newId() } }),
    (made) => made.text("data.id")
  )

/** A page of the organization's events after a sequence. */
const eventsAfter = (after: number | string, as: Partial<Actor> = asAdmin, limit = 100) =>
  api("GET", `/api/events?after=${after}&limit=${limit}`, { as })

export const sequenceOf = (event: unknown): number => Number(at(event, "sequence"))

/** Every event of an organization after a sequence, read page by page. */
export const allAfter = Effect.fnUntraced(function*(after: number, as: Partial<Actor> = asAdmin) {
  const found: Array<unknown> = []
  for (let cursor = after;;) {
    const page = (yield* eventsAfter(cursor, as)).list("data")
    found.push(...page)
    const next = sequenceOf(page.at(-1))
    // A page that does not get further would be read forever.
    if (page.length === 0 || !(next > cursor)) return found
    cursor = next
  }
})

/** The sequence of the newest event of an organization. */
export const cursorOf = (as: Partial<Actor> = asAdmin) =>
  Effect.map(allAfter(0, as), (all) => all.length === 0 ? 0 : sequenceOf(all.at(-1)))

/** Waits until the events of an organization after a sequence satisfy a test, and returns them. */
export const awaitEvents = (
  description: string,
  after: number,
  isSo: (events: ReadonlyArray<unknown>) => boolean,
  as: Partial<Actor> = asAdmin
) => eventually(description, Effect.map(allAfter(after, as), (all) => isSo(all) && all))

/** A server-sent event. */
export interface Message {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

export interface OpenStream {
  readonly response: Response
  /** The messages received so far, without comments. */
  readonly messages: ReadonlyArray<Message>
  /** Whether the server has ended the stream. */
  readonly ended: () => boolean
  /** Whether its connection broke before the server had ended it. */
  readonly wasCut: () => boolean
  /** Waits for so many messages. */
  readonly until: (count: number) => Effect.Effect<void>
}

const messageOf = (block: string): ReadonlyArray<Message> => {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const
    })
  )
  const data = fields.get("data")
  return data === undefined
    ? []
    : [{ id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: JSON.parse(data) as unknown }]
}

/** Opens the stream of events as a client of server-sent events does; it ends with the scope. */
export const openStream = (
  query = "",
  as: Partial<Actor> = asAdmin,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<OpenStream, never, TestApp | Scope.Scope> =>
  Effect.gen(function*() {
    const { url } = yield* TestApp
    const abort = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => abort.abort()))
    const response = yield* Effect.promise(() =>
      fetch(`${url}/api/events${query}`, {
        signal: abort.signal,
        headers: { accept: "text/event-stream", "x-test-actor": JSON.stringify(as), ...headers }
      })
    )
    const messages: Array<Message> = []
    let [ended, cut] = [false, false]
    const read = async () => {
      let rest = ""
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n")
        rest = blocks.pop() ?? ""
        messages.push(...blocks.flatMap(messageOf))
      }
    }
    read().catch(() => {
      cut = true
    }).finally(() => {
      ended = true
    })
    return {
      response,
      messages,
      ended: () => ended,
      wasCut: () => cut,
      until: (count) =>
        Effect.promise(() => waitFor(`${count} messages`, () => messages.length >= count || ended)).pipe(Effect.asVoid)
    }
  })
