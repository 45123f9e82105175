import { Effect, type Scope } from "effect"
import { waitFor } from "../support/waitFor.ts"

/** A message of a stream of server-sent events. */
export interface Message {
  readonly id: number
  readonly event: string
  readonly data: { readonly sequence: number; readonly type: string; readonly entityId: string; readonly data: object }
}

/** A stream that is being read. */
export interface OpenStream {
  readonly response: Response
  readonly messages: ReadonlyArray<Message>
  /** Whether the server has ended it. */
  readonly ended: () => boolean
  /** Waits until as many messages have come. */
  readonly until: (count: number) => Effect.Effect<void>
}

const parsed = (block: string): Message | undefined => {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const
    })
  )
  const data = fields.get("data")
  if (data === undefined) return undefined
  return { id: Number(fields.get("id")), event: fields.get("event") ?? "", data: JSON.parse(data) }
}

/** Reads a stream until the scope closes. */
export const openStream = (
  url: string,
  headers: Readonly<Record<string, string>>
): Effect.Effect<OpenStream, never, Scope.Scope> =>
  Effect.gen(function*() {
    const abort = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => abort.abort()))
    const response = yield* Effect.promise(() =>
      fetch(url, { headers: { accept: "text/event-stream", ...headers }, signal: abort.signal })
    )
    const messages: Array<Message> = []
    let ended = false
    const read = async () => {
      let rest = ""
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) {
        rest += decoder.decode(chunk, { stream: true })
        const blocks = rest.split("\n\n")
        rest = blocks.pop() ?? ""
        messages.push(...blocks.flatMap((block) => parsed(block) ?? []))
      }
    }
    read().catch(() => undefined).finally(() => {
      ended = true
    })
    return {
      response,
      messages,
      ended: () => ended,
      until: (count) =>
        Effect.promise(() => waitFor(`${count} messages`, () => messages.length >= count || ended)).pipe(Effect.asVoid)
    }
  })
