import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { WorkflowEngine } from "effect/workflow"
import { CheckoutRunRepo, type RunToken } from "../../src/domain/checkout/CheckoutRunRepo.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { Checkouts } from "../../src/workflows/checkout/Checkouts.ts"
import { CheckoutWorkflow, encodePayload } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { chanceOf } from "../pricing-properties/Chance.ts"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct } from "../support/Purchase.ts"
import { live, TestApp } from "../support/TestApp.ts"
import { aPayload, aRound, assertEndsWell, dyingAt, type FrozenRound, frozenStore } from "./FrozenRuns.ts"

const pays = ["pays", "pays", "pays"] as const

/** What a run could decide that woke up too late, if the token of its run did not stop it. */
const decisions: ReadonlyArray<readonly [what: string, round: FrozenRound]> = [
  ["create the order", { frozenAt: "authorized", otherAt: "reserved", provider: pays }],
  ["record the payment", { frozenAt: "captured", otherAt: "captured", provider: pays }],
  ["give the stock back", { frozenAt: "reserved", otherAt: "reserved", provider: ["pays", "pays", "declines"] }],
  ["cancel the order", { frozenAt: "created", otherAt: "captured", provider: ["pays", "pays", "refuses to capture"] }]
]

layer(frozenStore, live)(
  "a run of a checkout that was frozen",
  (it) => {
    it.effect.each(decisions)(
      "does not %s beside the run that took over from it",
      ([_, round]) =>
        Effect.gen(function*() {
          const lost = yield* assertEndsWell(yield* aProduct({ stock: 10 }), round)
          assert.isTrue(lost)
        })
    )

    it.effect(
      "changes nothing, at any boundary and any answer of the provider",
      () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 1_000_000 })
          const chance = chanceOf(20)
          const lost = yield* Effect.forEach(
            Array.from({ length: 48 }, () => aRound(chance)),
            (round) => assertEndsWell(entityId, round),
            { concurrency: 4 }
          )
          assert.isAbove(lost.filter(Boolean).length, 12)
          yield* audit((yield* TestApp).databaseUrl)
        })
    )

    it.effect("that died is taken over also beside one that cannot be read", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const entityId = yield* aProduct({ stock: 10 })
        const [unreadable, readable] = [newId(), aPayload((yield* aCartWith(entityId)).id, "card_taken_over")]
        yield* Effect.orDie(sql`insert into checkout_runs (id, organization_id, owner, process, payload, started_at)
        values (${unreadable}::uuid, 'org_default', ${newId()}::uuid, 1, 'no payload', now() - interval '1 hour')`)
        yield* dyingAt(readable, "authorized")
        yield* Effect.orDie(sql`update checkout_runs set started_at = now() - interval '1 minute'`)
        assert.strictEqual(yield* (yield* Checkouts).takeOver, 2)
        yield* eventually(
          "the order to be paid",
          Effect.map(
            Effect.orDie(
              sql`select 1 from orders where id = ${readable.checkoutId}::uuid and amount_captured is not null`
            ),
            (rows) => rows.length === 1
          )
        )
        yield* Effect.orDie(sql`delete from checkout_runs where id = ${unreadable}::uuid`)
      }))

    it.effect("that died is taken over also beside one whose shard does not answer", () =>
      Effect.gen(function*() {
        const engine = yield* WorkflowEngine.WorkflowEngine
        const [silent, other] = [aPayload(newId(), "card_silent"), aPayload(newId(), "card_beside")]
        const abandoned = [silent, other].map((payload) => ({
          owner: newId<RunToken>(),
          payload: encodePayload(payload)
        }))
        const silentId = yield* CheckoutWorkflow.executionId(silent)
        const started = yield* Deferred.make<void>()
        const deaf = WorkflowEngine.WorkflowEngine.of({
          ...engine,
          execute: (_, { executionId }) =>
            Effect.andThen(executionId === silentId ? Effect.void : Deferred.succeed(started, undefined), Effect.never)
        })
        const { takeOver } = yield* Checkouts.make.pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, deaf),
          Effect.provideService(CheckoutRunRepo, {
            ...(yield* CheckoutRunRepo),
            abandoned: () => Effect.succeed(abandoned)
          })
        )
        yield* Effect.forkScoped(takeOver)
        yield* Deferred.await(started)
      }))

    it.effect("that died after the payment is taken over for what is left to do, and only then", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const dead = Effect.fnUntraced(function*(type: string) {
          const payload = aPayload((yield* aCartWith(yield* aProduct({ type }))).id, `card_of_${type}`)
          yield* dyingAt(payload, "settled")
          return payload.checkoutId
        })
        const [parcel, download] = [yield* dead("product"), yield* dead("digitalDownload")]
        const ended = yield* Effect.orDie(sql`select 1 from checkout_runs where id = ${parcel}::uuid`)
        assert.deepStrictEqual(ended, [], "a parcel waits for staff")
        yield* Effect.orDie(sql`update checkout_runs set started_at = now() - interval '1 minute'`)
        yield* (yield* Checkouts).takeOver
        const delivered = (id: string) =>
          Effect.map(
            Effect.orDie(
              sql`select 1 from order_lines where order_id = ${id}::uuid and fulfillment_status = 'fulfilled'`
            ),
            (rows) => rows.length === 1
          )
        yield* eventually("the download to be delivered", delivered(download))
      }))
  }
)
