import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, holds, isSignedIn, seesUnpublished } from "../platform/access/Actor.ts"
import { invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { type EntityId, isUuid } from "../platform/ids/Id.ts"
import { CatalogSettings, localeChain } from "./CatalogSettings.ts"
import { isVisibleTo, seesAllPrices, shownTo } from "./CatalogVisibility.ts"
import { EntityNotFound } from "./Entity.ts"
import { EntityRepo } from "./EntityRepo.ts"
import type { EntityQuery, EntityRead, Include } from "./EntityView.ts"
import type { ExpansionView } from "./ExpansionRepo.ts"

class LocaleNotFound extends notFound("Locale", (locale: string) => `Locale '${locale}' not found.`) {}
class UnknownCategory extends invalid("Category", "category", "No such category.", "not_found") {}
class UnknownBrand extends invalid("Brand", "brand", "No such brand.", "not_found") {}

interface AttributesOptions {
  readonly fallback?: boolean
  readonly approvedOnly?: boolean
}

/** Reads the catalog (contract §1.2). Invisible entities are 404 and left out of lists. */
export class CatalogReads extends Context.Service<CatalogReads>()("stoa/domain/catalog/CatalogReads", {
  make: Effect.gen(function*() {
    const repo = yield* EntityRepo
    const hooks = yield* Hooks
    const settings = yield* CatalogSettings

    /** A slug may look like an id, so it is tried when no entity has that id. */
    const find = Effect.fnUntraced(function*({ id, options, slug }: EntityRead) {
      const view = yield* viewFor(options.locale, settings)
      if (slug !== undefined) return yield* repo.readBySlug(slug, options.include, view)
      const found = id === undefined ? undefined : yield* repo.readById(id, options.include, view)
      return found ?? (yield* repo.readBySlug(id ?? "", options.include, view))
    })

    // No span here and in `EntityRepo.findById`: on this hot path two spans took a fifth of the time.
    /** With a `locale`, attributes are those of the first locale of its chain that has any. */
    const get = Effect.fnUntraced(function*(idOrSlug: string, include: ReadonlyArray<Include>, locale?: string) {
      const options = locale === undefined ? { include } : { include, locale }
      const request: EntityRead = isUuid<EntityId>(idOrSlug)
        ? { id: idOrSlug, options }
        : { slug: idOrSlug.normalize("NFC"), options }
      const read = yield* hooks.before("catalog.beforeRead", request)
      const found = yield* find(read)
      const actor = yield* CurrentActor
      if (found === undefined || !isVisibleTo(actor, found.entity)) return yield* new EntityNotFound()
      const { entity, inTables } = found
      yield* hooks.before(`catalog.${entity.type}.beforeRead`, read, { inTables })
      yield* hooks.after("catalog.afterRead", entity, read, { inTables })
      yield* hooks.after(`catalog.${entity.type}.afterRead`, entity, read, { inTables })
      return shownTo(actor, entity)
    })

    const filterOf = Effect.fnUntraced(function*(query: EntityQuery) {
      const { approvedOnly, brand, category, descendants: _, locale, ...rest } = query
      const seen = yield* viewFor(locale, settings)
      const view = { ...seen, drafts: seen.drafts && approvedOnly !== true }
      const filter = { ...rest, view, publicOnly: !seen.drafts, categoryIds: null, brandId: null }
      if (category === undefined && brand === undefined) return filter
      const ids = yield* repo.filterIds(query)
      if (category !== undefined && ids.category === null) return yield* new UnknownCategory()
      if (brand !== undefined && ids.brand === null) return yield* new UnknownBrand()
      const categoryIds = ids.category === null ? null : ids.descendants ?? [ids.category]
      return { ...filter, categoryIds, brandId: ids.brand }
    })

    /** 422 for an unknown category or brand. */
    const list = Effect.fn("CatalogReads.list")(function*(request: EntityQuery) {
      const general = yield* hooks.before("catalog.beforeList", request)
      const query = general.type === undefined
        ? general
        : yield* hooks.before(`catalog.${general.type}.beforeList`, general)
      const { inTables, page } = yield* repo.page(yield* filterOf(query))
      yield* hooks.after("catalog.afterList", page, query, { inTables })
      if (query.type !== undefined) yield* hooks.after(`catalog.${query.type}.afterList`, page, query, { inTables })
      const actor = yield* CurrentActor
      return { ...page, items: page.items.map((view) => shownTo(actor, view)) }
    })

    const attributes = Effect.fn("CatalogReads.attributes")(
      function*(id: EntityId, locale: string, options: AttributesOptions = {}) {
        const actor = yield* CurrentActor
        const locales = options.fallback === true ? localeChain(locale, settings) : [locale]
        const drafts = seesUnpublished(actor) && options.approvedOnly !== true
        const view = { drafts, locales, warehouses: false, prices: "all" } as const
        const entity = yield* repo.findById(id, ["attributes"], view)
        if (entity === undefined || !isVisibleTo(actor, entity)) return yield* new EntityNotFound()
        return entity.attributes?.[0] ?? (yield* new LocaleNotFound(locale))
      }
    )

    return { get, list, attributes }
  })
}) {
  static readonly layer = Layer.effect(CatalogReads, CatalogReads.make)
}

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
