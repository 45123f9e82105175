import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { AuthGateway, MailLimit } from "../../src/http/auth/AuthRequest.ts"
import { authGatewayLayer } from "../../src/layers/auth/Auth.ts"
import { GuestOrderClaims } from "../../src/layers/auth/Verification.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { live, testAppLayer } from "../support/TestApp.ts"
import { makeOutbox, newEmail, password } from "./Visitors.ts"

/** No orders are claimed. */
const noClaims = Layer.succeed(GuestOrderClaims, { claim: () => Effect.void })

const app = Layer.provide(authGatewayLayer, noClaims).pipe(
  Layer.provideMerge(testAppLayer({
    email: { send: makeOutbox().send },
    rateLimits: { signInPerEmail: 1_000 },
    jobs: { autorun: { enabled: false } }
  }))
)

const hashesSoFar = Effect.map(
  Metric.snapshot,
  (all) =>
    all.flatMap((one) =>
      one.id === "stoa_password_hashes_total" && one.type === "Counter" ? [Number(one.state.count)] : []
    )
      .reduce((sum, count) => sum + count, 0)
)

/** Text of a statement without what differs from one to the next of its kind. */
const kindOf = (text: string): string => /^\s*(with \w+|\w+)/.exec(text)?.[1] ?? text

/** What an answer of `/api/auth` cost: hashes of passwords, and the kinds of its statements. */
const workOf = Effect.fnUntraced(function*(path: string, body: object, mayMail = true) {
  const gateway = yield* AuthGateway
  const request = new Request(`http://127.0.0.1/api/auth${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const before = yield* hashesSoFar
  let status = 0
  const sent = yield* statementsOf(
    gateway.answer(request).pipe(
      Effect.tap((answer) => Effect.sync(() => status = answer.status)),
      Effect.provideService(CurrentActor, systemActor("org_default")),
      Effect.provideService(MailLimit, () => Effect.succeed(mayMail))
    )
  )
  const hashes = (yield* hashesSoFar) - before
  return { status, hashes, statements: sent.map(([text]) => kindOf(text)).toSorted() }
})

layer(app, live)(
  "an address with or without an account costs the same work",
  (it) => {
    const known = newEmail()
    const unverified = newEmail()

    it.effect("an address with or without an account costs the same work at sign-up", () =>
      Effect.gen(function*() {
        const signUp = (email: string) => workOf("/sign-up/email", { name: "Ada", email, password })
        // The first call of all prepares what later ones find.
        yield* signUp(newEmail())
        const free = yield* signUp(known)
        const taken = yield* signUp(known)
        yield* signUp(unverified)
        yield* onDatabase((sql) => sql`update users set email_verified = true where email = ${known}`)
        assert.deepStrictEqual(taken, free)
        assert.deepStrictEqual([free.status, free.hashes], [200, 1])
        assert.isAtLeast(free.statements.length, 4)
        const left = yield* onDatabase((sql) => sql`select 1 from users where email like '%.invalid'`)
        assert.strictEqual(left.length, 0)
      }))

    it.effect("an address with or without an account costs the same work at a sign-in that is refused", () =>
      Effect.gen(function*() {
        const signIn = (email: string) => workOf("/sign-in/email", { email, password: "wrong horse" })
        const [wrong, open, unknown] = [yield* signIn(known), yield* signIn(unverified), yield* signIn(newEmail())]
        assert.deepStrictEqual([wrong.status, wrong.hashes], [401, 1])
        assert.deepStrictEqual(unknown, wrong)
        assert.deepStrictEqual(open, wrong)
      }))

    it.effect("an address with or without an account costs the same work at the request for a new password", () =>
      Effect.gen(function*() {
        const reset = (email: string, mayMail = true) => workOf("/request-password-reset", { email }, mayMail)
        const [there, absent] = [yield* reset(known), yield* reset(newEmail())]
        assert.deepStrictEqual(absent, there)
        assert.deepStrictEqual([there.status, there.hashes], [200, 0])
        const left = yield* onDatabase((sql) => sql`select 1 from verifications`)
        assert.strictEqual(left.length, 1)
        assert.deepStrictEqual(yield* reset(known, false), there, "a mail that exceeds its limit")
      }))

    it.effect("an address with or without an account costs the same work at the request for another link of verification", () =>
      Effect.gen(function*() {
        const again = (email: string) => workOf("/send-verification-email", { email })
        const [waiting, done, absent] = [yield* again(unverified), yield* again(known), yield* again(newEmail())]
        assert.deepStrictEqual([done, absent], [waiting, waiting])
        assert.deepStrictEqual([waiting.status, waiting.hashes], [200, 0])
      }))
  }
)
