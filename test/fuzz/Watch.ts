import { Effect } from "effect"
import { type Answer, type Call, TestApp } from "../support/TestApp.ts"
import type { Received } from "./Answers.ts"
import type { Operation } from "./Operations.ts"

/** The operation that a path asks: the one with the fewest parameters of those that fit; none for what is not declared. */
export const operationAt = (
  operations: ReadonlyArray<Operation>,
  method: string,
  path: string
): Operation | undefined => {
  const [bare = ""] = path.split("?")
  const fits = operations.filter((one) =>
    one.method === method && new RegExp(`^${one.path.replace(/\{[^}]+\}/g, "[^/]+")}$`).test(bare)
  )
  return fits.sort((one, other) => one.path.split("{").length - other.path.split("{").length)[0]
}

const receivedOf = ({ body, headers, status }: Answer): Received => ({
  status,
  contentType: headers.get("content-type"),
  text: typeof body === "string" ? body : JSON.stringify(body)
})

/** An answer of the service to a request of a test. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly call: Call
  readonly received: Received
}

/** Does what tests do elsewhere, and shows each of its answers. */
export const watching = <A, E, R>(
  seen: (exchange: Exchange) => void,
  body: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | TestApp> =>
  Effect.flatMap(TestApp, (app) => {
    const shown = (ask: typeof app.api): typeof app.api => (method, path, call = {}) =>
      Effect.tap(ask(method, path, call), (answer) =>
        Effect.sync(() => seen({ method, path, call, received: receivedOf(answer) })))
    return Effect.provideService(body, TestApp, { ...app, api: shown(app.api), prepare: shown(app.prepare) })
  })
