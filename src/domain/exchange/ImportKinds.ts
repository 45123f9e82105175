import { Context, Effect, Layer } from "effect"
import { CatalogBatches } from "../catalog/CatalogBatches.ts"
import { CatalogRecord } from "../catalog/CatalogRecord.ts"
import { strictly } from "../text/Issues.ts"
import type { Work } from "./BatchRepo.ts"
import type { Import } from "./Import.ts"
import { workOf } from "./RowWork.ts"

/** How the rows of each kind of import are worked on. */
export class ImportKinds extends Context.Service<ImportKinds, {
  readonly workFor: (of: Pick<Import, "kind" | "format">) => Work
}>()("stoa/domain/exchange/ImportKinds") {
  static readonly layer = Layer.effect(
    ImportKinds,
    Effect.gen(function*() {
      const catalog = yield* CatalogBatches
      const works = {
        catalog: workOf({ read: strictly(CatalogRecord), keyOf: ({ slug }) => slug, apply: catalog.apply })
      }
      return { workFor: () => works.catalog }
    })
  )
}
