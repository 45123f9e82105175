import { Context, Effect, Layer, Option, Stream } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { CatalogPageRepo, type PagedTypes } from "./CatalogPageRepo.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { StoredEntity } from "./CatalogState.ts"
import { FieldOrder } from "./FieldOrder.ts"
import { recordOf } from "./RecordOf.ts"

/** Entities per statement. */
const pageSize = 250

/** A record of a file, and the id of its entity. */
export interface ExportedRecord {
  readonly id: string
  readonly record: CatalogRecord
}

/** Exports the catalog of an organization page by page. */
export class CatalogExport extends Context.Service<CatalogExport, {
  /**
   * All records by slug, a page at a time; a concurrent change is exported in its old or new state. Entities that
   * reference later ones appear a second time at the end, with those references.
   */
  readonly pages: Stream.Stream<ReadonlyArray<ExportedRecord>, never, CurrentActor>
  readonly locales: Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/catalog/import-export/CatalogExport") {
  static readonly layer = Layer.effect(
    CatalogExport,
    Effect.map(CatalogPageRepo, (repo) => {
      const entities = (types: PagedTypes) =>
        Stream.paginate(
          undefined as string | undefined,
          Effect.fnUntraced(function*(after: string | undefined) {
            const page = yield* repo.after(after, pageSize, types)
            const next = page.length < pageSize ? Option.none() : Option.fromNullishOr(page.at(-1)?.entity.slug)
            return [[page], next] as const
          })
        )

      const pages = Stream.unwrap(Effect.map(repo.references, ({ exist, needed }) => {
        const order = new FieldOrder(needed)
        const isWhole = (stored: StoredEntity) => stored.fields.every((field) => order.isKnown(stored, field))
        const first = (stored: StoredEntity) =>
          asRecord(
            isWhole(stored)
              ? stored
              : { ...stored, fields: stored.fields.filter((field) => order.isKnown(stored, field)) }
          )
        const { later } = order
        const groups = [{ except: later.flat() }, ...later.map((only) => ({ only }))]
        const all = Stream.flatMap(Stream.fromIterable(groups), entities)
        const again = exist ? entities({ referring: true }) : Stream.empty
        return Stream.concat(
          Stream.map(all, (page) => page.map(first)),
          Stream.map(again, (page) => page.filter((stored) => !isWhole(stored)).map(asRecord))
        )
      }))

      return { pages, locales: repo.locales }
    })
  )
}

const asRecord = (stored: StoredEntity): ExportedRecord => ({ id: stored.entity.id, record: recordOf(stored) })
