import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isArray, isObject, type Json } from "../../src/http/openapi/Json.ts"
import { asAdmin, TestApp } from "../support/TestApp.ts"
import { type Cast, type Target, targetOf } from "./Fuzz.ts"
import type { Operation } from "./Operations.ts"
import { pathFor, queryFor } from "./Requests.ts"
import { validValue } from "./Values.ts"
import { everyWay, wholeDeployment } from "./World.ts"

/** See `Document.test.ts`. */
const seed = Number(process.env["STOA_FUZZ_SEED"] ?? Date.now() % 1_000_000)

const planted = "unheardOf"

/** Parameters and bodies of providers, of mailboxes too, are theirs. Probes answer before anything is looked at. */
const exempt: ReadonlySet<string> = new Set([
  "GET /health/live",
  "GET /health/ready",
  "GET /api/health",
  "GET /api/ready",
  "GET /api/auth/callback/{provider}",
  "POST /api/auth/callback/{provider}",
  "POST /api/payments/webhook",
  "POST /api/mail/unsubscribe"
])

/** Places of planted keys in a value, as the header names them. */
const placesIn = (value: Json | undefined, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  isArray(value)
    ? value.flatMap((one, index) => placesIn(one, [...path, String(index)]))
    : isObject(value)
    ? Object.entries(value).flatMap(([key, one]) =>
      key === planted ? [[...path, key].join(".")] : placesIn(one, [...path, key])
    )
    : []

interface Sent {
  readonly name: string
  readonly status: number
  readonly text: string
  readonly ignored: string
  readonly places: ReadonlyArray<string>
}

/** Sends a request whose query and objects each have an unknown key. */
const sendPlanted = Effect.fnUntraced(
  function*(target: Target, operation: Operation, headers: Readonly<Record<string, string>>) {
    const { url } = yield* TestApp
    const { body: schema, method, name, otherBodies } = operation
    const source = { ...target.source, planted }
    const query = queryFor(operation, target.source, "valid")
    const path = `${pathFor(operation, target.known, target.source, false)}${query}${
      query === "" ? "?" : "&"
    }${planted}=1`
    const value = schema === undefined ? { [planted]: 1 } : validValue(schema, "", source)
    const hasBody = method !== "GET" && (schema !== undefined || otherBodies.length === 0)
    const places = [...(hasBody ? placesIn(value) : []), `query.${planted}`]
    return yield* Effect.promise(async (): Promise<Sent> => {
      const response = await fetch(`${url}${path}`, {
        method,
        redirect: "manual",
        headers: { ...headers, ...(hasBody && { "content-type": "application/json" }) },
        ...(hasBody && { body: JSON.stringify(value) })
      })
      const ignored = response.headers.get("x-ignored-fields") ?? ""
      const isEndless = response.headers.get("content-type")?.startsWith("text/event-stream") === true
      if (isEndless) await response.body?.cancel()
      const text = isEndless ? "" : await response.text()
      return { name, status: response.status, text, ignored, places }
    })
  }
)

/** A caller without access learns nothing of the request: nothing of it was used. */
const isKeptOut = ({ status }: Sent): boolean => [401, 403, 415, 429].includes(status)

/** Half of them by the caller whom the cast gives, who is a wrong one every tenth time. */
const tries = 12

/** Manages what belongs to no single store, too. */
const owner = { "x-test-actor": JSON.stringify(asAdmin) }

/** Sends it again as another caller, until one gets in. */
const sentByAny = Effect.fnUntraced(
  function*(target: Target, operation: Operation, cast: Cast, more: Readonly<Record<string, string>>) {
    let sent: Sent | undefined
    for (let tried = 0; tried < tries && (sent === undefined || isKeptOut(sent)); tried++) {
      sent = yield* sendPlanted(target, operation, {
        ...(yield* cast(operation)),
        ...(tried % 2 === 1 && owner),
        ...more
      })
    }
    return sent
  }
)

/** 422 that names the parameter, and the key of the body where it has one. */
const isRefused = ({ places, status, text }: Sent): boolean =>
  status === 422 && text.includes("unknown_key") && text.includes(`"query.${planted}"`) &&
  (!places.includes(planted) || text.includes(`"${planted}"`))

const shown = ({ ignored, name, places, status, text }: Sent): string =>
  `${name} ${status} [${ignored}] of [${places.join(", ")}] ${text.slice(0, 400)}`

layer(wholeDeployment, { excludeTestServices: true, timeout: "60 seconds" })("an unknown key", (it) => {
  it.effect(
    "is refused by every operation in a strict request, and named by each that accepts it otherwise",
    () =>
      Effect.gen(function*() {
        const target = yield* targetOf(seed)
        const cast = yield* everyWay(target, "org_unknown")
        const asked = target.operations.filter(({ name }) => !exempt.has(name))
        const send = (more: Readonly<Record<string, string>>) =>
          Effect.forEach(asked, (one) => sentByAny(target, one, cast, more), { concurrency: 6 })
        const strict = yield* send({ prefer: "handling=strict" })
        const missed = strict.filter((sent) => sent !== undefined && sent.status !== 415 && !isRefused(sent))
        assert.deepStrictEqual(missed.map((sent) => sent && shown(sent)), [], `seed ${seed}`)

        const lenient = yield* send({})
        const accepted = lenient.filter((sent) => sent !== undefined && sent.status < 400)
        assert.isAbove(accepted.length, asked.length / 4)
        const silent = accepted.filter((sent) => {
          const named = new Set(sent?.ignored.split(", "))
          return sent?.places.some((place) => !named.has(place)) === true && !/\+\d+$/.test(sent.ignored)
        })
        assert.deepStrictEqual(silent.map((sent) => sent && shown(sent)), [], `seed ${seed}`)
      }),
    240_000
  )
})
