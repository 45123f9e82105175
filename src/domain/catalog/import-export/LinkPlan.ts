import type { AuditedType } from "../../events/Event.ts"
import { newId } from "../../ids/Id.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { CatalogState, Named, StoredEntity } from "./CatalogState.ts"
import { type CatalogWrites, noWrites } from "./CatalogWrites.ts"

type Link = Extract<AuditedType, `${"categories" | "brands"}.${"link" | "unlink"}`>

const toChange = (type: Link, entityId: string, link: object): CatalogWrites["changes"][number] => ({
  type,
  entityType: "catalog_entity",
  entityId,
  payload: type.endsWith(".link") ? { entityId, ...link } : { entityId, ...link, deleted: true },
  ...(type.endsWith(".link") ? {} : { before: { entityId, ...link } })
})

/** The links to add and remove, so that exactly these slugs are linked; `idOf` creates new targets. */
const difference = (
  stored: ReadonlyArray<Named>,
  wanted: ReadonlyArray<string>,
  idOf: (slug: string) => string
) => {
  const slugs = new Set(wanted)
  const known = new Set(stored.map(({ slug }) => slug))
  return {
    link: [...slugs].filter((slug) => !known.has(slug)).map(idOf),
    unlink: stored.filter(({ slug }) => !slugs.has(slug)).map(({ id }) => id)
  }
}

/** The category of a slug; creates a missing one as a root. */
const categoryIn = (state: CatalogState, writes: CatalogWrites) => (slug: string): string => {
  const known = state.categories.get(slug)
  if (known !== undefined) return known
  const id = newId()
  state.categories.set(slug, id)
  writes.newCategories.push({ id, slug })
  const payload = { id, parentId: null, slug, sortOrder: 0, status: "active", metadata: {} }
  writes.changes.push({ type: "categories.create", entityType: "category", entityId: id, payload })
  return id
}

/** The brand of a slug; creates a missing one with the slug as its display name. */
const brandIn = (state: CatalogState, writes: CatalogWrites, organizationId: string) => (slug: string): string => {
  const known = state.brands.get(slug)
  if (known !== undefined) return known
  const id = newId()
  state.brands.set(slug, id)
  writes.newBrands.push({ id, slug })
  const payload = { id, organizationId, slug, displayName: slug, metadata: {} }
  writes.changes.push({ type: "brands.create", entityType: "brand", entityId: id, payload })
  return id
}

/** Replaces the categories and brands of the entity by those of a record; an absent key keeps them. */
export const planLinks = (
  entityId: string,
  stored: StoredEntity | undefined,
  record: CatalogRecord,
  state: CatalogState,
  organizationId: string
): CatalogWrites => {
  const writes = noWrites()
  if (record.categories !== undefined) {
    const { link, unlink } = difference(stored?.categories ?? [], record.categories, categoryIn(state, writes))
    for (const categoryId of link) {
      writes.categoryLinks.push({ entityId, targetId: categoryId, sortOrder: 0 })
      writes.changes.push(toChange("categories.link", entityId, { categoryId }))
    }
    for (const categoryId of unlink) {
      writes.categoryUnlinks.push({ entityId, targetId: categoryId })
      writes.changes.push(toChange("categories.unlink", entityId, { categoryId }))
    }
  }
  if (record.brands !== undefined) {
    const { link, unlink } = difference(stored?.brands ?? [], record.brands, brandIn(state, writes, organizationId))
    for (const brandId of link) {
      writes.brandLinks.push({ entityId, targetId: brandId, sortOrder: 0 })
      writes.changes.push(toChange("brands.link", entityId, { brandId }))
    }
    for (const brandId of unlink) {
      writes.brandUnlinks.push({ entityId, targetId: brandId })
      writes.changes.push(toChange("brands.unlink", entityId, { brandId }))
    }
  }
  return writes
}
