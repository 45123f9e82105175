import { Effect, type Scope } from "effect"
import type { Actor } from "../../src/domain/access/Actor.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, at, TestApp } from "../support/TestApp.ts"

export const events = "/api/events"

/**
 * A page of the organization's events behind a cursor. The cursor of an event is its `sequence`; what comes after it is
 * asked for by `after`, and 0 is before the first.
 */
export const eventsAfter = (after: number | string, as: Partial<Actor> = asAdmin, limit = 100) =>
  api("GET", `${events}?after=${after}&limit=${limit}`, { as })

export const sequenceOf = (event: unknown): number => Number(at(event, "sequence"))

/** Every event of an organization behind a cursor, read page by page. */
export const allAfter = Effect.fnUntraced(function*(after: number, as: Partial<Actor> = asAdmin) {
  const found: Array<unknown> = []
  for (let cursor = after;;) {
    const page = (yield* eventsAfter(cursor, as)).list("data")
    found.push(...page)
    const next = sequenceOf(page.at(-1))
    // A page that does not get further would be read for ever.
    if (page.length === 0 || !(next > cursor)) return found
    cursor = next
  }
})

/** The cursor behind all that an organization has announced so far. */
export const cursorOf = (as: Partial<Actor> = asAdmin) =>
  Effect.map(allAfter(0, as), (all) => all.length === 0 ? 0 : sequenceOf(all.at(-1)))

/** Waits until an organization's events behind a cursor are as a test wants them, and gives them. */
export const awaitEvents = (
  description: string,
  after: number,
  isSo: (events: ReadonlyArray<unknown>) => boolean,
  as: Partial<Actor> = asAdmin
) => eventually(description, Effect.map(allAfter(after, as), (all) => isSo(all) && all))

/** One message of a text/event-stream. */
export interface Message {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: unknown
}

export interface OpenStream {
  readonly status: number
  readonly headers: Headers
  /** What has come so far, oldest first; comments and heartbeats are left out. */
  readonly messages: () => ReadonlyArray<Message>
}

const messageOf = (block: string): Message | undefined => {
  const field = (name: string) =>
    block.split(/\r?\n/).filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, "")).join("\n")
  const data = field("data")
  if (data === "") return undefined
  return { id: field("id") || undefined, event: field("event") || undefined, data: JSON.parse(data) as unknown }
}

/** Opens the stream of events as a client of server-sent events does; it ends with the scope. */
export const openStream = (
  query = "",
  headers: Readonly<Record<string, string>> = {},
  as: Partial<Actor> = asAdmin
): Effect.Effect<OpenStream, never, TestApp | Scope.Scope> =>
  Effect.gen(function*() {
    const { url } = yield* TestApp
    const aborter = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => aborter.abort()))
    const response = yield* Effect.promise(() =>
      fetch(`${url}${events}${query}`, {
        signal: aborter.signal,
        headers: { accept: "text/event-stream", "x-test-actor": JSON.stringify(as), ...headers }
      })
    )
    let text = ""
    const decoder = new TextDecoder()
    const read = async () => {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
    }
    void read().catch(() => undefined) // aborted at the end of the test, which is no failure
    return {
      status: response.status,
      headers: response.headers,
      messages: () => {
        const blocks = text.split(/\r?\n\r?\n/).slice(0, -1)
        return blocks.map(messageOf).filter((message) => message !== undefined)
      }
    }
  })
