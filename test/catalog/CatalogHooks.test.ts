import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Catalog } from "../../src/domain/catalog/Catalog.ts"
import { CatalogReads } from "../../src/domain/catalog/CatalogReads.ts"
import { type BeforeCall, type Hook, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { asShopkeeper, catalogLayer } from "./CatalogServices.ts"

const heard: Array<string> = []

const moments = ["Create", "Update", "Read", "List"]
const listeners: ReadonlyArray<Hook> = ["catalog", "catalog.product"].flatMap((prefix) => [
  ...[...moments, "Delete"].map((moment) => {
    const key = `${prefix}.before${moment}`
    return { key, before: ({ data }: BeforeCall) => Effect.as(Effect.sync(() => heard.push(key)), data) }
  }),
  ...[...moments, "Delete"].map((moment) => {
    const key = `${prefix}.after${moment}`
    return { key, after: () => Effect.sync(() => heard.push(key)) }
  })
])

const rules: ReadonlyArray<Hook> = [
  { key: "catalog.beforeCreate", before: ({ data }) => Effect.succeed({ ...data, metadata: { from: "hook" } }) },
  {
    key: "catalog.forbidden.beforeCreate",
    before: () => Effect.fail(new HookRefusal("Not in this store."))
  },
  ...["Update", "Delete"].map((moment) => ({
    key: `catalog.frozen.before${moment}`,
    before: () => Effect.fail(new HookRefusal("It is frozen."))
  }))
]

/** Which hooks ran while the effect did. */
const during = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    heard.length = 0
    return Effect.map(effect, () => [...heard])
  })

it.layer(catalogLayer([...listeners, ...rules]))("hooks of the catalog", (it) => {
  it.effect("hooks of the catalog run around each change, general ones before those of the type", () =>
    Effect.gen(function*() {
      const catalog = yield* Catalog
      const slug = newId()
      const { id } = yield* catalog.create({ type: "product", slug })
      assert.deepStrictEqual(yield* during(catalog.create({ type: "product", slug: newId() })), [
        "catalog.beforeCreate",
        "catalog.product.beforeCreate",
        "catalog.afterCreate",
        "catalog.product.afterCreate"
      ])
      const updated = ["catalog.afterUpdate", "catalog.product.afterUpdate"]
      const asked = ["catalog.beforeUpdate", "catalog.product.beforeUpdate"]
      const changes = [
        catalog.update(id, { metadata: {} }),
        catalog.publish(id),
        catalog.archive(id),
        catalog.discontinue(id)
      ]
      for (const change of changes) assert.deepStrictEqual(yield* during(change), [...asked, ...updated])
      assert.deepStrictEqual(yield* during(catalog.setAttributes(id, "en", { title: "Sock" })), updated)
      assert.deepStrictEqual(yield* during(catalog.setAttributes(id, "en", { title: "Sock" })), [])
      assert.deepStrictEqual(yield* during(catalog.remove(id)), [
        "catalog.beforeDelete",
        "catalog.product.beforeDelete",
        "catalog.afterDelete",
        "catalog.product.afterDelete"
      ])
    }).pipe(asShopkeeper))

  it.effect("hooks of the catalog run around reads and lists", () =>
    Effect.gen(function*() {
      const [catalog, reads] = [yield* Catalog, yield* CatalogReads]
      const { id } = yield* catalog.create({ type: "product", slug: newId() })
      assert.deepStrictEqual(yield* during(reads.get(id, [])), [
        "catalog.beforeRead",
        "catalog.product.beforeRead",
        "catalog.afterRead",
        "catalog.product.afterRead"
      ])
      const query = { page: 1, limit: 1, include: [], sort: { field: "slug", ascending: true } } as const
      assert.deepStrictEqual(yield* during(reads.list(query)), ["catalog.beforeList", "catalog.afterList"])
      assert.deepStrictEqual(yield* during(reads.list({ ...query, type: "product" })), [
        "catalog.beforeList",
        "catalog.product.beforeList",
        "catalog.afterList",
        "catalog.product.afterList"
      ])
    }).pipe(asShopkeeper))

  it.effect("hooks of the catalog may refuse that an entity is changed, published or deleted; one that is not there is 404", () =>
    Effect.gen(function*() {
      const catalog = yield* Catalog
      const { id } = yield* catalog.create({ type: "frozen", slug: newId() })
      const failures = [
        yield* Effect.flip(catalog.update(id, { metadata: {} })),
        yield* Effect.flip(catalog.publish(id)),
        yield* Effect.flip(catalog.remove(id))
      ]
      for (const { error } of failures) assert.strictEqual(error.message, "It is frozen.")
      assert.strictEqual(
        (yield* Effect.flip(catalog.update(newId(), { metadata: {} })))._tag,
        "NotFound/CatalogEntity"
      )
      assert.strictEqual((yield* Effect.flip(catalog.remove(newId())))._tag, "NotFound/CatalogEntity")
    }).pipe(asShopkeeper))

  it.effect("hooks of the catalog may change what is created, and refuse it", () =>
    Effect.gen(function*() {
      const catalog = yield* Catalog
      const made = yield* catalog.create({ type: "product", slug: newId() })
      assert.deepStrictEqual(made.metadata, { from: "hook" })
      const refusal = yield* Effect.flip(catalog.create({ type: "forbidden", slug: newId() }))
      assert.strictEqual(refusal.error.message, "Not in this store.")
    }).pipe(asShopkeeper))
})
