import { Effect, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { type Answer, at, type Call, type TestApp } from "./TestApp.ts"

const found = <A>(path: string, body: unknown, kind: string, is: (value: unknown) => value is A): A => {
  const value = at(body, path)
  if (is(value)) return value
  throw new Error(`expected ${kind} at "${path}" of ${JSON.stringify(body)}`)
}

const isText = (value: unknown): value is string => typeof value === "string"
const isNumber = (value: unknown): value is number => typeof value === "number"
const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** What came back, with its paths. */
export const answer = (status: number, headers: Headers, body: unknown): Answer => ({
  status,
  headers,
  body,
  at: (path) => at(body, path),
  text: (path) => found(path, body, "a text", isText),
  number: (path) => found(path, body, "a number", isNumber),
  list: (path) => found(path, body, "a list", isList)
})

/** The client has no answer: no process listens, or the connection broke. */
const noAnswer = answer(0, new Headers(), undefined)

const send = async (url: string, method: string, { as, body, headers }: Call): Promise<Answer> => {
  try {
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(as === undefined ? {} : { "x-test-actor": JSON.stringify(as) }),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    const json = response.headers.get("content-type")?.includes("json") === true && text !== ""
    return answer(response.status, response.headers, json ? JSON.parse(text) : text)
  } catch {
    return noAnswer
  }
}

/** Requests to a process; status 0 stands for a connection that gave no answer. */
export const callOf = (base: string) => (method: string, path: string, call: Call = {}): Effect.Effect<Answer> =>
  Effect.promise(() => send(`${base}${path}`, method, call))

/** Not an outcome: no answer, or one that asks to come again (503, and 409 with Retry-After). */
export const isOutcome = ({ headers, status }: Answer): boolean =>
  status !== 0 && status !== 503 && !(status === 409 && headers.has("retry-after"))

/** A client that follows the documentation: it repeats the same request until there is an outcome. */
export const persistently = <E, R>(request: Effect.Effect<Answer, E, R>): Effect.Effect<Answer, E, R> =>
  request.pipe(
    Effect.repeat({ until: isOutcome, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({
      duration: "2 minutes",
      orElse: () => Effect.die(new Error("No outcome within 2 minutes."))
    })
  )

/**
 * Requests that are repeated until there is an outcome, under a key of their own, so that a repeat changes nothing twice.
 * A process on a busy machine may answer 503 while its shards are on the way to it, and may not answer at all.
 */
export const insisting = (api: TestApp["Service"]["api"]): TestApp["Service"]["api"] => (method, path, call) =>
  Effect.suspend(() =>
    persistently(
      api(
        method,
        path,
        method === "GET" ? call : {
          ...call,
          headers: { "idempotency-key": randomUUID(), ...call?.headers }
        }
      )
    )
  )
