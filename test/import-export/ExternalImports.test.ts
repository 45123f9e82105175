import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { DraftProduct, SoldLine } from "../../src/domain/import-export/external/ExternalFormat.ts"
import { ExternalImports } from "../../src/domain/import-export/external/ExternalImports.ts"
import type { SentOptions, SentProduct, TakenProduct } from "../../src/domain/import-export/external/SentProduct.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { inOneMoment } from "../orders/OrderFixtures.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"

const lineOf = (sku: string | undefined, options: Readonly<Record<string, string>> = {}): SoldLine => ({
  isVariant: true,
  variant: sku === undefined ? {} : { sku },
  options,
  metadata: {},
  prices: [{ amount: "12.50" }],
  stock: { onHand: 3 }
})

const draftOf = (title: string, ...sold: ReadonlyArray<SoldLine>): DraftProduct => ({
  product: { type: "product", status: "active", attributes: [{ title }] },
  categories: [["Clothes", "Shirts"]],
  brands: ["Acme & Sons"],
  sold,
  warnings: []
})

const sentOf = (externalId: string, slug: string, draft: DraftProduct): SentProduct => ({ externalId, slug, draft })

const send = Effect.fnUntraced(
  function*(
    sent: ReadonlyArray<SentProduct>,
    options: Partial<SentOptions> = {},
    also?: (taken: ReadonlyArray<TakenProduct>) => Effect.Effect<unknown, string>
  ) {
    const imports = yield* ExternalImports
    return yield* imports.products(sent, { source: "store-1", currency: "EUR", ...options }, also)
  },
  Effect.provideService(CurrentActor, systemActor("org_default"))
)

const results = (taken: ReadonlyArray<TakenProduct>) => taken.map(({ result }) => result)

const countOf = (table: "outbox_events" | "catalog_entities") =>
  onDatabase((sql) => sql<{ n: number }>`select count(*)::int4 as n from ${sql(table)}`).pipe(
    Effect.map(([row]) => row?.n)
  )

const entity = (slug: string) => api("GET", `/api/catalog/entities/${slug}?include=variants,prices`, { as: asAdmin })

withApp("products of a store elsewhere", (it) => {
  it.effect("come in once: 500 in a batch, and the same again write nothing", () =>
    Effect.gen(function*() {
      const sizes = (n: number) => ["S", "M"].map((size) => lineOf(`P${n}-${size}`, { Size: size }))
      const sent = Array.from(
        { length: 500 },
        (_, n) => sentOf(`${n}`, `shirt-${n}`, draftOf(`Shirt ${n}`, ...sizes(n)))
      )
      const first = yield* send(sent)
      assert.deepStrictEqual([...new Set(results(first))], ["created"])
      const written = yield* countOf("outbox_events")
      const known = sent.map((one, n) => ({ ...one, entityId: first[n]?.entityId }))
      const again = yield* send(known)
      assert.deepStrictEqual([...new Set(results(again))], ["unchanged"])
      assert.deepStrictEqual(again.map(({ variantIds }) => variantIds), first.map(({ variantIds }) => variantIds))
      assert.strictEqual(yield* countOf("outbox_events"), written)
      const shown = yield* entity("shirt-7")
      assert.strictEqual(shown.text("data.sourceStoreId"), "store-1")
      assert.strictEqual(shown.text("data.variants.0.sourceStoreId"), "store-1")
      assert.deepEqual<ReadonlyArray<string | null> | undefined>(first[7]?.variantIds, [
        shown.text("data.variants.0.id"),
        shown.text("data.variants.1.id")
      ])
    }))

  it.effect("get another slug where theirs is taken, also by one before them", () =>
    Effect.gen(function*() {
      yield* api("POST", "/api/catalog/entities", { as: asAdmin, body: { type: "product", slug: "mug" } })
      const taken = yield* send([
        sentOf("gid-1", "mug", draftOf("Mug")),
        sentOf("gid-2", "bowl", draftOf("Bowl")),
        sentOf("gid-3", "bowl", draftOf("Other bowl"))
      ])
      assert.deepStrictEqual(results(taken), ["created", "created", "created"])
      assert.strictEqual((yield* entity("mug-gid-1")).text("data.id"), taken[0]?.entityId)
      assert.strictEqual((yield* entity("bowl-gid-3")).text("data.id"), taken[2]?.entityId)
    }))

  it.effect("are linked by their SKUs to goods that are here, which they never change", () =>
    Effect.gen(function*() {
      const [own] = yield* send([sentOf("1", "own", draftOf("Own", lineOf("L-1", { Size: "S" }), lineOf("L-2")))], {
        source: "store-2"
      })
      const before = yield* countOf("outbox_events")
      const theirs = draftOf("Theirs", lineOf("L-2", { Weight: "1 kg" }), lineOf("L-1", { Weight: "2 kg" }))
      const linked: TakenProduct = {
        externalId: "9",
        result: "linked",
        issues: [],
        warnings: [],
        entityId: own?.entityId ?? null,
        variantIds: own?.variantIds.toReversed() ?? []
      }
      assert.deepEqual(yield* send([sentOf("9", "theirs", theirs)], { linkBySku: true }), [linked])
      const known = { ...sentOf("9", "theirs", theirs), entityId: own?.entityId }
      assert.deepEqual(yield* send([known]), [linked])
      assert.strictEqual(yield* countOf("outbox_events"), before)
      // A SKU that two goods share names neither.
      yield* send([sentOf("10", "other-shirt", draftOf("Other", lineOf("L-1")))], { source: "store-2" })
      const third = yield* send([sentOf("11", "third", draftOf("Third", lineOf("L-1")))], { linkBySku: true })
      assert.deepStrictEqual(results(third), ["created"])
    }))

  it.effect("are refused one by one, with the place of what is wrong", () =>
    Effect.gen(function*() {
      const wrong = { ...draftOf("Wrong", lineOf("W-1")), sold: [{ ...lineOf("W-1"), prices: [{ amount: "a lot" }] }] }
      const [good, known] = [sentOf("2", "good", draftOf("Good")), sentOf("3", "good", draftOf("Again"))]
      const taken = yield* send([sentOf("1", "wrong", wrong), good])
      assert.deepStrictEqual(results(taken), ["refused", "created"])
      assert.deepStrictEqual(taken[0]?.issues.map(({ path }) => path), ["prices.0.amount"])
      const entityId = taken[1]?.entityId
      const twice = yield* send([{ ...good, entityId }, { ...known, entityId }])
      assert.deepStrictEqual(results(twice), ["unchanged", "refused"])
    }))

  it.effect("have their entity also when their prices were refused", () =>
    Effect.gen(function*() {
      // The price names a variant that is not there.
      const half = draftOf("Half", { ...lineOf("H-1"), isVariant: false })
      const [taken] = yield* send([sentOf("1", "half", half)])
      assert.strictEqual(taken?.result, "refused")
      assert.strictEqual((yield* entity("half")).text("data.id"), taken?.entityId)
    }))

  it.effect("never go into another entity that gets their slug meanwhile", () =>
    Effect.gen(function*() {
      const sent = sentOf("1", "moved", draftOf("Moved"))
      const [first] = yield* send([sent])
      const [taken] = yield* inOneMoment(
        (sql) =>
          Effect.andThen(
            sql`update catalog_entities set slug = 'moved-away' where slug = 'moved'`,
            sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
              values (gen_random_uuid(), 'org_default', 'product', 'moved', 'draft', false)`
          ),
        [send([{ ...sent, draft: draftOf("Changed"), entityId: first?.entityId }])]
      )
      assert.deepStrictEqual(taken?.map(({ issues }) => issues.map(({ code }) => code)), [["conflict"]])
    }))

  it.effect("come in as a whole with what their plugin writes, and not at all in a dry run", () =>
    Effect.gen(function*() {
      const sent = [sentOf("1", "dry", draftOf("Dry", lineOf("D-1")))]
      const before = yield* countOf("outbox_events")
      const rehearsed = yield* send(sent, { dryRun: true }, () => Effect.fail("a dry run writes nothing"))
      assert.deepStrictEqual(results(rehearsed), ["created"])
      assert.strictEqual(yield* Effect.flip(send(sent, {}, () => Effect.fail("locked"))), "locked")
      assert.strictEqual(yield* countOf("outbox_events"), before)
      yield* send(sent, { priced: (amount) => amount * 2 })
      const amounts = yield* onDatabase((sql) =>
        sql`select amount::int4 from prices where entity_id = (select id from catalog_entities where slug = 'dry')`
      )
      assert.deepStrictEqual(amounts, [{ amount: 2500 }])
    }))
})
