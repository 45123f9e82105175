import { Effect, Layer } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Brands } from "../../domain/catalog/brands/Brands.ts"
import { Catalog, Drafts } from "../../domain/catalog/Catalog.ts"
import { CatalogReads } from "../../domain/catalog/CatalogReads.ts"
import { Categories } from "../../domain/catalog/categories/Categories.ts"
import { includesOf, sortOf } from "../../domain/catalog/EntityView.ts"
import { FieldDefinitions } from "../../domain/catalog/fields/FieldDefinitions.ts"
import { Revisions } from "../../domain/catalog/revisions/Revisions.ts"
import { Schedules } from "../../domain/catalog/schedules/Schedules.ts"
import { Variants } from "../../domain/catalog/variants/Variants.ts"
import { pageOf, pageOrAll } from "../../domain/platform/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CatalogGroup, VariantsGroup } from "./CatalogApi.ts"
import { BrandsGroup, CategoriesGroup, CategoryTreeGroup } from "./CategoriesApi.ts"
import { DraftsGroup, RevisionsGroup, SchedulesGroup } from "./EntityVersionsApi.ts"
import { FieldDefinitionsGroup } from "./FieldDefinitionsApi.ts"

const linked = { linked: true } as const
const unlinked = { unlinked: true } as const

const catalogHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CatalogGroup),
  "catalog",
  Effect.fnUntraced(function*(handlers) {
    const catalog = yield* Catalog
    const reads = yield* CatalogReads
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.flatMap(sortOf(query.sort), (sort) => {
          const include = includesOf(query.include)
          return reads.list({ ...query, ...pageOf(query), sort, descendants: query.descendants === "true", include })
        }),
      read: ({ params, query }) => reads.get(params.id, includesOf(query.include), query.locale),
      create: ({ payload }) => catalog.create(payload),
      update: ({ params, payload }) => catalog.update(params.id, payload),
      remove: ({ params }) => Effect.as(catalog.remove(params.id), deleted),
      publish: ({ params }) => catalog.publish(params.id),
      archive: ({ params }) => catalog.archive(params.id),
      discontinue: ({ params }) => catalog.discontinue(params.id),
      setAttributes: ({ params, payload }) =>
        Effect.as(catalog.setAttributes(params.id, params.locale, payload), { updated: true } as const),
      readAttributes: ({ params, query }) =>
        reads.attributes(params.id, params.locale, {
          fallback: query.fallback === "true",
          approvedOnly: query.status === "approved"
        })
    })
  })
)

const variantsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(VariantsGroup),
  "variants",
  (handlers) =>
    Effect.map(Variants, (variants) =>
      handlers.handleAll({
        createOptionType: ({ params, payload }) => variants.createOptionType(params.id, payload),
        createOptionValue: ({ params, payload }) => variants.createOptionValue(params.optionTypeId, payload.value),
        create: ({ params, payload }) => variants.create(params.id, payload),
        generate: ({ params, payload }) => variants.generate(params.id, payload ?? { mode: "all" })
      }))
)

const categoriesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CategoriesGroup),
  "categories",
  (handlers) =>
    Effect.map(Categories, (categories) =>
      handlers.handleAll({
        list: ({ query }) => categories.list(query.includeArchived === "true", pageOrAll(query)),
        create: ({ payload }) => categories.create(payload),
        update: ({ params, payload }) => categories.update(params.categoryId, payload),
        remove: ({ params }) => Effect.as(categories.remove(params.categoryId), deleted),
        archive: ({ params }) => categories.archive(params.categoryId),
        restore: ({ params }) => categories.restore(params.categoryId),
        link: ({ params }) => Effect.as(categories.link(params.id, params.categoryId), linked),
        unlink: ({ params }) => Effect.as(categories.unlink(params.id, params.categoryId), unlinked)
      }))
)

const categoryTreeHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CategoryTreeGroup),
  "categoryTree",
  (handlers) =>
    Effect.map(Categories, (categories) =>
      handlers.handleAll({
        read: ({ params }) => categories.get(params.categoryId),
        subtree: ({ params, query }) =>
          categories.subtree(params.categoryId, {
            depth: query.depth,
            includeArchived: query.includeArchived === "true"
          }),
        move: ({ params, payload }) => categories.move(params.categoryId, payload)
      }))
)

const brandsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(BrandsGroup),
  "brands",
  (handlers) =>
    Effect.map(Brands, (brands) =>
      handlers.handleAll({
        list: ({ query }) => brands.list(pageOrAll(query)),
        create: ({ payload }) => brands.create(payload),
        update: ({ params, payload }) => brands.update(params.brandId, payload),
        remove: ({ params }) => Effect.as(brands.remove(params.brandId), deleted),
        link: ({ params }) => Effect.as(brands.link(params.id, params.brandId), linked),
        unlink: ({ params }) => Effect.as(brands.unlink(params.id, params.brandId), unlinked)
      }))
)

const draftsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(DraftsGroup),
  "drafts",
  (handlers) =>
    Effect.map(Drafts, (drafts) =>
      handlers.handleAll({
        list: ({ query }) => drafts.list(pageOf(query)),
        approve: ({ params }) => Effect.as(drafts.approve(params.id, params.locale), { approved: true } as const),
        reject: ({ params }) => Effect.as(drafts.reject(params.id, params.locale), { rejected: true } as const)
      }))
)

const schedulesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(SchedulesGroup),
  "schedules",
  (handlers) =>
    Effect.map(Schedules, (schedules) =>
      handlers.handleAll({
        read: ({ params }) => schedules.get(params.id),
        set: ({ params, payload }) => schedules.set(params.id, payload),
        clear: ({ params }) => schedules.set(params.id, {})
      }))
)

const revisionsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(RevisionsGroup),
  "revisions",
  (handlers) =>
    Effect.map(Revisions, (revisions) =>
      handlers.handleAll({
        list: ({ params, query }) => revisions.list(params.id, pageOf(query)),
        read: ({ params }) => revisions.get(params.id, params.number),
        compare: ({ params, query }) => revisions.compare(params.id, params.number, query.from),
        restore: ({ params }) => revisions.restore(params.id, params.number)
      }))
)

const fieldDefinitionsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(FieldDefinitionsGroup),
  "fieldDefinitions",
  (handlers) =>
    Effect.map(FieldDefinitions, (fields) =>
      handlers.handleAll({
        list: ({ query }) => fields.list(query.entityType, query.includeArchived === "true", pageOf(query)),
        create: ({ payload }) => fields.create(payload),
        read: ({ params }) => fields.get(params.id),
        update: ({ params, payload }) => fields.update(params.id, payload),
        archive: ({ params }) => fields.archive(params.id),
        restore: ({ params }) => fields.restore(params.id)
      }))
)

export const catalogRoutes = Layer.mergeAll(
  catalogHttp,
  categoriesHttp,
  categoryTreeHttp,
  brandsHttp,
  variantsHttp,
  draftsHttp,
  fieldDefinitionsHttp,
  revisionsHttp,
  schedulesHttp
)
