import { Context, Effect, Layer, Option, Stream } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { CatalogPageRepo } from "./CatalogPageRepo.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"

/** Entities of one statement. */
const pageSize = 250

/** Reads the whole catalog of an organization, page after page. */
export class CatalogExport extends Context.Service<CatalogExport, {
  /** All records in the order of their slugs, a page at a time; what changes meanwhile is there before or after. */
  readonly pages: Stream.Stream<ReadonlyArray<CatalogRecord>, never, CurrentActor>
  readonly locales: Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/catalog/exchange/CatalogExport") {
  static readonly layer = Layer.effect(
    CatalogExport,
    Effect.map(CatalogPageRepo, (repo) => ({
      pages: Stream.paginate(
        undefined as string | undefined,
        Effect.fnUntraced(function*(after: string | undefined) {
          const page = yield* repo.after(after, pageSize)
          const next = page.length < pageSize ? Option.none() : Option.fromNullishOr(page.at(-1)?.slug)
          return [[page], next] as const
        })
      ),
      locales: repo.locales
    }))
  )
}
