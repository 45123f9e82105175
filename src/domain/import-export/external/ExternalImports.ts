import { Context, Effect, Layer, Result } from "effect"
import { CatalogTransactionRepo } from "../../catalog/CatalogChangeRepo.ts"
import { SellableRepo } from "../../catalog/SellableRepo.ts"
import { hasOptions } from "../../catalog/Sellables.ts"
import { CurrentActor } from "../../platform/access/Actor.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { ImportKinds } from "../ImportKinds.ts"
import { Imports } from "../Imports.ts"
import { type BatchContext, type ImportResult, warningsOf } from "../Upsert.ts"
import { ExternalImportRepo } from "./ExternalImportRepo.ts"
import { type ExternalProduct, productOf } from "./ExternalProducts.ts"
import { recordOf } from "./ExternalTables.ts"
import {
  type Place,
  placesOf,
  type SentOptions,
  type SentProduct,
  skusOf,
  slugsOf,
  type TakenProduct
} from "./SentProduct.ts"

/** Products of a batch, which is one transaction. */
const maxProducts = 500

/** A product with its place, and what is written of it unless it is linked. */
interface PlacedProduct extends Place {
  readonly sent: SentProduct
  readonly written?: ExternalProduct
}

type Read = Result.Result<PlacedProduct, ReadonlyArray<Issue>>

/** Products that plugins bring from stores elsewhere (docs/plugins.md). They are written as the files of such stores are. */
export class ExternalImports extends Context.Service<ExternalImports>()(
  "stoa/domain/import-export/external/ExternalImports",
  {
    make: Effect.gen(function*() {
      const { external } = yield* ImportKinds
      const imports = yield* Imports
      const repo = yield* ExternalImportRepo
      const transaction = yield* CatalogTransactionRepo
      const sellables = yield* SellableRepo

      const write = Effect.fnUntraced(function*(sent: ReadonlyArray<SentProduct>, options: SentOptions) {
        const known = yield* repo.known({
          ids: sent.flatMap(({ entityId }) => entityId ?? []),
          slugs: sent.flatMap(slugsOf),
          skus: options.linkBySku === true ? sent.flatMap(skusOf) : []
        })
        const { dryRun = false, pictures = false, warehouse = null, ...of } = options
        const { organizationId } = yield* CurrentActor
        const context = { ...of, now: known.now, organizationId, dryRun, pictures, warehouse }
        const places = placesOf(sent, known, options)
        const read = yield* Effect.forEach(sent, (one, index) => readAt(one, places[index], context, options))
        const placed = read.flatMap((one) => Result.isSuccess(one) ? [one.success] : [])
        const written = placed.flatMap((one) => one.written ?? [])
        const done = yield* external(written, context)
        const skus = placed.flatMap((one) => one.isLinked ? skusOf(one.sent) : [])
        const found = yield* sellables.named(placed.map(({ slug }) => slug), skus)
        const results = new Map(written.map((product, index) => [product, done.results[index]]))
        const taken = sent.map((one, index) => {
          const at = read[index]
          if (at === undefined || Result.isFailure(at)) return refusedProduct(one, at?.failure ?? [])
          const { written } = at.success
          return takenProduct(at.success, written === undefined ? undefined : results.get(written), found)
        })
        return { taken, afterCommit: done.afterCommit }
      })

      /**
       * Creates, changes or links at most 500 products, each for itself, in one transaction with `also`; a refused one
       * changes nothing. Identical products write nothing. Needs the permissions of an import of the catalog, prices and
       * stock. Dies when another request takes a slug meanwhile: call it again. Call it in no transaction.
       */
      const products = Effect.fn("ExternalImports.products")(function*<E = never, R = never>(
        sent: ReadonlyArray<SentProduct>,
        options: SentOptions,
        also: (taken: ReadonlyArray<TakenProduct>) => Effect.Effect<unknown, E, R> = () => Effect.void
      ) {
        yield* imports.admitImport("catalog", "shopify")
        if (sent.length > maxProducts) {
          return yield* Effect.die(new Error(`A batch has at most ${maxProducts} products, not ${sent.length}.`))
        }
        const writing = write(sent, options)
        // The way out of the transaction is a failure, which carries what would have happened.
        if (options.dryRun === true) return (yield* Effect.flip(transaction.run(Effect.flip(writing)))).taken
        const done = yield* transaction.run(Effect.tap(writing, ({ taken }) => also(taken)))
        yield* Effect.uninterruptible(done.afterCommit)
        return done.taken
      })

      return { products }
    })
  }
) {
  static readonly layer = Layer.effect(ExternalImports, ExternalImports.make)
}

const withPrices = (product: ExternalProduct, priced: (amount: number) => number): ExternalProduct => ({
  ...product,
  prices: product.prices.map(({ amount, compareAtAmount, ...price }) => ({
    ...price,
    amount: priced(amount),
    compareAtAmount: typeof compareAtAmount === "number" ? priced(compareAtAmount) : compareAtAmount
  }))
})

const readAt = (
  sent: SentProduct,
  at: Result.Result<Place, ReadonlyArray<Issue>> | undefined,
  of: BatchContext,
  { priced = (amount) => amount }: SentOptions
): Effect.Effect<Read> => {
  if (at === undefined || Result.isFailure(at)) return Effect.succeed(Result.fail(at?.failure ?? []))
  const place = at.success
  if (place.isLinked) return Effect.succeed(Result.succeed({ ...place, sent }))
  const draft = { ...sent.draft, product: { ...sent.draft.product, slug: place.slug } }
  return Effect.result(
    Effect.map(productOf(recordOf(draft, place.slug), of), (read) => {
      const { product, ...parts } = withPrices(read, priced)
      return { ...place, sent, written: { ...parts, product: { ...product, expected: place.entityId } } }
    })
  )
}

const refusedProduct = ({ externalId }: SentProduct, issues: ReadonlyArray<Issue>): TakenProduct => ({
  externalId,
  result: "refused",
  issues,
  warnings: [],
  entityId: null,
  variantIds: []
})

type Found = Effect.Success<ReturnType<SellableRepo["Service"]["named"]>>

/** Variants of what was written have its options, those of linked products its SKUs. */
const takenProduct = (
  { isLinked, sent, slug }: PlacedProduct,
  result: ImportResult | undefined,
  { entities, variants }: Found
): TakenProduct => {
  if (result?._tag === "refused" && result.isWritten !== true) return refusedProduct(sent, result.issues)
  const entity = entities.get(slug)
  const variantIds = sent.draft.sold.map(({ isVariant, options, variant: { sku } }) => {
    if (!isVariant) return null
    return isLinked
      ? variants.get(String(sku))?.find(({ entityId }) => entityId === entity?.id)?.variantId ?? null
      : entity?.variants.find((one) => hasOptions(one, options))?.id ?? null
  })
  const here = { entityId: entity?.id ?? null, variantIds }
  if (result?._tag === "refused") return { ...refusedProduct(sent, result.issues), ...here }
  return {
    externalId: sent.externalId,
    result: isLinked ? "linked" : result?._tag ?? "unchanged",
    issues: [],
    warnings: warningsOf(result),
    ...here
  }
}
