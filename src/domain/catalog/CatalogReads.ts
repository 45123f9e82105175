import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, holds, isSignedIn } from "../access/Actor.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { isUuid } from "../ids/Id.ts"
import type { PageOf } from "../paging/Paging.ts"
import type { Attributes } from "./Attributes.ts"
import { AttributesRepo } from "./AttributesRepo.ts"
import { CatalogSettings } from "./CatalogSettings.ts"
import { isVisibleTo, seesAllPrices, seesUnpublished, shownTo } from "./CatalogVisibility.ts"
import { EntityListRepo } from "./EntityListRepo.ts"
import type { EntityQuery } from "./EntityQuery.ts"
import { EntityRepo } from "./EntityRepo.ts"
import type { EntityRead, EntityView, Include } from "./Expansion.ts"
import type { ExpansionView } from "./ExpansionRepo.ts"
import { localeChain } from "./locales/LocaleChain.ts"

/** How words are read: of the first locale of a chain or of this one alone, drafts included or not. */
export interface WordsRead {
  readonly fallback?: boolean
  readonly approvedOnly?: boolean
}

/**
 * Reads of the catalog (contract §1.2): what a shopper may not see is 404 to him and left out of lists. A read is one
 * statement whatever it expands; a list one, and one more when it is narrowed to a category or a brand.
 */
export class CatalogReads extends Context.Service<CatalogReads, {
  /** With a `locale`, words are those of the first of its chain that has any (docs/catalog.md). */
  readonly get: (
    idOrSlug: string,
    include: ReadonlyArray<Include>,
    locale?: string
  ) => Effect.Effect<EntityView, NotFound | ValidationFailed, CurrentActor>
  /** 422 for an unknown category or brand. */
  readonly list: (query: EntityQuery) => Effect.Effect<PageOf<EntityView>, ValidationFailed, CurrentActor>
  /** Whoever keeps the catalog gets the draft where there is one, unless he asks for what is approved. */
  readonly attributes: (
    id: string,
    locale: string,
    how?: WordsRead
  ) => Effect.Effect<Attributes, NotFound, CurrentActor>
}>()("stoa/domain/catalog/CatalogReads") {
  static readonly layer = Layer.effect(
    CatalogReads,
    Effect.gen(function*() {
      const repo = yield* EntityRepo
      const lists = yield* EntityListRepo
      const words = yield* AttributesRepo
      const hooks = yield* Hooks
      const settings = yield* CatalogSettings

      /** A slug may look like an id: it is tried when no entity has that id. */
      const find = Effect.fnUntraced(function*({ id, options, slug }: EntityRead) {
        const shown = yield* viewFor(options.locale, settings)
        if (slug !== undefined) return yield* repo.findBySlug(slug, options.include, shown)
        const found = id === undefined ? undefined : yield* repo.findById(id, options.include, shown)
        return found ?? (yield* repo.findBySlug(id ?? "", options.include, shown))
      })

      // Without a span, as the look-up below it: on the shortest way through the service two spans were a fifth of the work.
      const get = Effect.fnUntraced(function*(idOrSlug: string, include: ReadonlyArray<Include>, locale?: string) {
        const options = locale === undefined ? { include } : { include, locale }
        const asked: EntityRead = isUuid(idOrSlug) ? { id: idOrSlug, options } : { slug: idOrSlug, options }
        const read = yield* hooks.before("catalog.beforeRead", asked)
        const entity = yield* find(read)
        const actor = yield* CurrentActor
        if (entity === undefined || !isVisibleTo(actor, entity)) return yield* unknownEntity
        // The type is known only now, so the hooks of a type may still refuse but no longer change what is read.
        yield* hooks.before(`catalog.${entity.type}.beforeRead`, read)
        yield* hooks.after("catalog.afterRead", entity, read)
        yield* hooks.after(`catalog.${entity.type}.afterRead`, entity, read)
        return shownTo(actor, entity)
      })

      const narrowed = Effect.fnUntraced(function*({ brand, category, descendants, locale, ...sent }: EntityQuery) {
        const shown = yield* viewFor(locale, settings)
        const query = { ...sent, view: shown, publicOnly: !shown.drafts }
        if (category === undefined && brand === undefined) {
          return { ...query, categoryIds: null, brandId: null }
        }
        const isDeep = category !== undefined && descendants === true
        const ids = yield* lists.named({ category, brand, descendants: isDeep })
        if (category !== undefined && ids.category === null) return yield* unknownCategory
        if (brand !== undefined && ids.brand === null) return yield* unknownBrand
        const categoryIds = ids.category === null ? null : ids.below ?? [ids.category]
        return { ...query, categoryIds, brandId: ids.brand }
      })

      const list = Effect.fn("CatalogReads.list")(function*(asked: EntityQuery) {
        const general = yield* hooks.before("catalog.beforeList", asked)
        const query = general.type === undefined
          ? general
          : yield* hooks.before(`catalog.${general.type}.beforeList`, general)
        const page = yield* lists.page(yield* narrowed(query))
        yield* hooks.after("catalog.afterList", page, query)
        if (query.type !== undefined) yield* hooks.after(`catalog.${query.type}.afterList`, page, query)
        const actor = yield* CurrentActor
        return { ...page, items: page.items.map((view) => shownTo(actor, view)) }
      })

      const attributes = Effect.fn("CatalogReads.attributes")(
        function*(id: string, locale: string, how: WordsRead = {}) {
          const actor = yield* CurrentActor
          const locales = how.fallback === true ? localeChain(locale, settings) : [locale]
          const drafts = seesUnpublished(actor) && how.approvedOnly !== true
          const found = yield* words.find(id, { locales, drafts })
          if (found === undefined || !isVisibleTo(actor, found.entity)) return yield* unknownEntity
          return found.attributes ?? (yield* NotFound.of(`Locale '${locale}' not found.`))
        }
      )

      return { get, list, attributes }
    })
  )
}

/** What the actor of this request may be shown of an entity's words, prices and stock. */
const viewFor = Effect.fnUntraced(function*(locale: string | undefined, settings: CatalogSettings["Service"]) {
  const actor = yield* CurrentActor
  const buyer = {
    organizationId: actor.organizationId,
    userId: isSignedIn(actor) ? actor.userId : null,
    now: DateTime.toDateUtc(yield* DateTime.now)
  }
  return {
    drafts: seesUnpublished(actor),
    locales: locale === undefined ? undefined : localeChain(locale, settings),
    warehouses: holds(actor, "inventory:read"),
    prices: seesAllPrices(actor) ? "all" : buyer
  } satisfies ExpansionView
})

const unknownEntity = NotFound.of("Catalog entity not found.")
const unknownCategory = ValidationFailed.of("category", "No such category.", "not_found")
const unknownBrand = ValidationFailed.of("brand", "No such brand.", "not_found")
