import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { CurrentActor } from "../../src/domain/access/Actor.ts"
import { Catalog } from "../../src/domain/catalog/Catalog.ts"
import { Categories } from "../../src/domain/catalog/categories/Categories.ts"
import { Variants } from "../../src/domain/catalog/variants/Variants.ts"
import type { Conflict, Forbidden, NotFound, ValidationFailed } from "../../src/domain/errors/ApiErrors.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { waiting } from "../support/AtOnce.ts"
import { asShopkeeper, catalogLayer } from "./CatalogServices.ts"

/** What the write comes to when the row is deleted after the write began and before it is done. */
const whileDeleting = Effect.fnUntraced(function*<A, E, R>(table: string, id: string, write: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const [gone, commit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const deletion = yield* Effect.forkChild(sql.withTransaction(
    sql`delete from ${sql(table)} where id = ${id}::uuid`.pipe(
      Effect.andThen(Deferred.succeed(gone, undefined)),
      Effect.andThen(Deferred.await(commit))
    )
  ))
  yield* Deferred.await(gone)
  const writing = yield* Effect.forkChild(Effect.flip(Effect.asVoid(write)))
  yield* waiting(1)
  yield* Deferred.succeed(commit, undefined)
  yield* Fiber.join(deletion)
  return yield* Fiber.join(writing)
})

const shirt = Effect.gen(function*() {
  const [catalog, variants] = [yield* Catalog, yield* Variants]
  const { id } = yield* catalog.create({ type: "product", slug: newId() })
  const size = yield* variants.createOptionType(id, { name: "Size", values: ["S", "M"] })
  return { id, sizeId: size.id }
})

/** Writes of parts of an entity. */
const parts = {
  "its words": (id: string) =>
    Effect.asVoid(Effect.flatMap(Catalog, (_) => _.setAttributes(id, "de", { title: "Hemd" }))),
  "an option": (id: string) =>
    Effect.asVoid(Effect.flatMap(Variants, (_) => _.createOptionType(id, { name: "Color", values: ["b"] }))),
  "a variant": (id: string) => Effect.asVoid(Effect.flatMap(Variants, (_) => _.create(id, { options: { Size: "S" } }))),
  "all variants": (id: string) => Effect.asVoid(Effect.flatMap(Variants, (_) => _.generate(id, { mode: "all" })))
}

/** Their types differ in nothing that matters here. */
type Part = (id: string) => Effect.Effect<
  void,
  NotFound | Conflict | Forbidden | ValidationFailed,
  Catalog | Variants | CurrentActor
>

describe("of what is deleted in the same moment", () => {
  it.layer(catalogLayer())((it) => {
    for (const [name, write] of Object.entries<Part>(parts)) {
      it.effect(`${name} cannot be written: the entity is not found`, () =>
        Effect.gen(function*() {
          const { id } = yield* shirt
          assert.strictEqual((yield* whileDeleting("catalog_entities", id, write(id)))._tag, "NotFound/CatalogEntity")
        }).pipe(asShopkeeper))
    }

    it.effect("a value cannot be added: the option is not found", () =>
      Effect.gen(function*() {
        const { id, sizeId } = yield* shirt
        const value = Effect.flatMap(Variants, (_) => _.createOptionValue(sizeId, "L"))
        assert.strictEqual((yield* whileDeleting("catalog_entities", id, value))._tag, "NotFound/OptionType")
      }).pipe(asShopkeeper))

    it.effect("no category comes to lie below it, be it new or moved", () =>
      Effect.gen(function*() {
        const categories = yield* Categories
        const parent = () => categories.create({ slug: newId() })
        const child = yield* categories.create({ slug: newId() })
        const first = yield* parent()
        const made = yield* whileDeleting(
          "categories",
          first.id,
          categories.create({ slug: newId(), parentId: first.id })
        )
        const second = yield* parent()
        const moved = yield* whileDeleting(
          "categories",
          second.id,
          categories.update(child.id, { parentId: second.id })
        )
        assert.deepStrictEqual([made._tag, moved._tag], ["ValidationFailed/Parent", "ValidationFailed/Parent"])
      }).pipe(asShopkeeper))
  })
})
