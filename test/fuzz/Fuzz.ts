import { Effect } from "effect"
import type { Json, JsonObject } from "../../src/http/openapi/Json.ts"
import { TestApp } from "../support/TestApp.ts"
import { answersOf, operationAt, type Received, watching } from "./Answers.ts"
import { type Operation, operationsOf } from "./Operations.ts"
import { type FuzzRequest, type Known, knownRecords, requestFor } from "./Requests.ts"
import { randomOf, type Source } from "./Values.ts"

/** An answer that the document does not admit. */
export interface Surprise {
  readonly operation: string
  readonly status: number
  readonly what: string
  /** What to send to see it again. */
  readonly request: string
  readonly answer: string
}

/** A service whose answers are checked against its document. */
export interface Target {
  readonly operations: ReadonlyArray<Operation>
  readonly known: Known
  readonly source: Source
  /** Names of operations that a request succeeded at. */
  readonly succeeded: ReadonlySet<string>
  readonly surprises: ReadonlyArray<Surprise>
  readonly sent: () => number
  readonly send: (request: FuzzRequest) => Effect.Effect<Received>
  /** Does what other tests do, and looks at all answers. */
  readonly walk: <A, E, R>(body: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | TestApp>
}

const jsonOf = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Longest that an answer may take on a busy machine. */
const timeout = "60 seconds"

const received = (url: string, { body, headers, operation, path }: FuzzRequest) =>
  Effect.promise(async (signal): Promise<Received> => {
    const request = { method: operation.method, redirect: "manual" as const, headers, signal }
    const response = await fetch(`${url}${path}`, body === undefined ? request : { ...request, body })
    return {
      status: response.status,
      contentType: response.headers.get("content-type"),
      text: await response.text()
    }
  }).pipe(Effect.timeoutOrElse({
    duration: timeout,
    orElse: () => Effect.succeed<Received>({ status: 599, contentType: null, text: "no answer" })
  }))

const describedRequest = (method: string, path: string, headers: object | undefined, body: unknown) =>
  `${method} ${path} ${JSON.stringify(headers ?? {})} ${
    (typeof body === "string" ? body : JSON.stringify(body) ?? "").slice(0, 2_000)
  }`

/** Starts to look at the service of the test, with this seed. */
export const targetOf = Effect.fnUntraced(function*(seed: number) {
  const { api, url } = yield* TestApp
  const document = (yield* api("GET", "/api/doc")).body as JsonObject
  const operations = operationsOf(document)
  const judge = answersOf(document)
  const random = randomOf(seed)
  const known = knownRecords()
  const succeeded = new Set<string>()
  const surprises: Array<Surprise> = []
  let sent = 0

  const look = (operation: Operation, path: string, answer: Received, request: () => string) => {
    sent++
    const what = judge(operation, answer)
    if (what !== undefined) {
      const { status, text } = answer
      surprises.push({ operation: operation.name, status, what, request: request(), answer: text.slice(0, 600) })
    }
    if (answer.status >= 400) return
    const [bare = ""] = path.split("?")
    succeeded.add(operation.name)
    known.learnPath(operation.path, bare)
    known.learn(bare, jsonOf(answer.text))
  }

  const target: Target = {
    operations,
    known,
    source: { random, document, idOf: (field) => known.idOf(field, random) },
    succeeded,
    surprises,
    sent: () => sent,
    send: (request) =>
      Effect.tap(received(url, request), (answer) =>
        Effect.sync(() => {
          const { body, headers, operation, path } = request
          look(operation, path, answer, () => describedRequest(operation.method, path, headers, body))
        })),
    walk: (body) =>
      watching(({ call, method, path, received: answer }) => {
        const operation = operationAt(operations, method, path)
        const { as, body: sentBody, headers } = call
        if (operation === undefined) return
        look(operation, path, answer, () => describedRequest(method, path, { as, ...headers }, sentBody))
      }, body)
  }
  return target
})

/** Headers that make a request somebody's, by the operation that is asked. */
export type Cast = (operation: Operation) => Effect.Effect<Readonly<Record<string, string>>, never, TestApp>

/** Sends so many requests to these operations in turn, a few of them at once. */
export const fuzz = (target: Target, operations: ReadonlyArray<Operation>, count: number, cast: Cast) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => operations[index % operations.length]),
    (operation) =>
      operation === undefined
        ? Effect.void
        : Effect.flatMap(
          cast(operation),
          (headers) => target.send(requestFor(operation, headers, target.known, target.source))
        ),
    { concurrency: 6, discard: true }
  )

/** What was found, each kind once, for a person who has to mend it. */
export const report = ({ surprises }: Target): ReadonlyArray<string> => {
  const kinds = new Map(surprises.map((one) => [`${one.operation} ${one.status} ${one.what}`, one]))
  return [...kinds].map(([kind, { answer, request }]) => `${kind}\n  ${request}\n  ${answer}`)
}
